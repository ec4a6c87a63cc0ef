package ingest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Writers may give commands, get answers and approve texts. Setting the label that begins work needs triage
// only: GitHub lets nobody with less set a label by hand.

// An answer of GitHub about somebody judges what they wrote before it, for answerLife, so that a long
// conversation is judged over several passes. One that grants also judges what they write for grantLife
// after it. A command is judged by a grant from after it for grantLife, and by a refusal for refusalLife;
// an approval right before a merge asks GitHub in its own pass.
const (
	grantLife   = time.Minute
	refusalLife = 10 * time.Minute
	answerLife  = 24 * time.Hour
)

// rights say what accounts may do in one repository. They ask nobody: a rule that lacks a fact returns which
// one, and permissions learns it.
type rights struct {
	settings  config.Repo
	operators func() []int64 // ids of our accounts
	now       func() time.Time

	fresh  map[int64]string     // GitHub's answers in this pass, by account id
	stored map[int64]permission // the last ones of earlier passes, as far as they were looked up
	pinned map[string]int64     // the accounts that logins of the config mean, by login in lower case
}

// permission is an answer of GitHub about an account. at is zero if there is none.
type permission struct {
	level string
	at    time.Time
}

var writing = []string{"admin", "maintain", "write"}

// mayCommand reports whether a command or comment that who wrote at that time counts.
func (r *rights) mayCommand(who work.Account, at time.Time) (bool, lack) {
	return r.may(who, at, writing)
}

// maySetLabel reports whether a label set by who begins work. GitHub attributes the label of an
// issue form to the author, even one without triage permission.
func (r *rights) maySetLabel(who work.Account, at time.Time) (bool, lack) {
	if slices.Contains(r.operators(), who.ID) {
		return true, lack{} // set by us for a command; the permission of its author was checked
	}
	return r.may(who, at, append([]string{"triage"}, writing...))
}

// mayPush reports whether GitHub lets who write to the repository. Unlike mayCommand it ignores
// allowed_users: the accounts there need no write permission.
func (r *rights) mayPush(who work.Account, at time.Time) (bool, lack) {
	return r.has(who, at, writing)
}

// mayComment reports whether a comment or command counts. Before an agent is paid, GitHub is asked about
// all authors again.
func (r *rights) mayComment(e work.Event) (bool, lack) {
	if e.Kind != work.EventCommand {
		return r.mayCommand(e.Author, work.StampOf(e))
	}
	known, missing := r.lastAnswer(e.Author)
	if missing.is() {
		return false, missing
	}
	// A refusal lasts longer, so that a pass that ends too early does not have the next one ask about everybody again.
	age, life := r.now().Sub(known.at), refusalLife
	if work.MayWrite(known.level) {
		life = grantLife
	}
	if e.Author.Bot || age < 0 || age >= life || !work.StampOf(e).Before(known.at.Truncate(time.Second)) {
		return r.mayNow(e.Author, true)
	}
	named, missing := r.isAllowed(e.Author)
	return named || work.MayWrite(known.level), missing
}

// mayNow reports whether who may write to the repository now: GitHub is asked, once a pass. With
// allowed, those whom allowed_users names need no permission.
func (r *rights) mayNow(who work.Account, allowed bool) (bool, lack) {
	if allowed {
		if named, missing := r.isAllowed(who); named || missing.is() {
			return named, missing
		}
	}
	if who.Bot || who.ID == 0 {
		return false, lack{}
	}
	level, asked := r.fresh[who.ID]
	if !asked {
		return false, lack{kind: lackLevel, who: who}
	}
	return work.MayWrite(level), lack{}
}

func (r *rights) may(who work.Account, at time.Time, levels []string) (bool, lack) {
	if named, missing := r.isAllowed(who); named || missing.is() {
		return named, missing
	}
	return r.has(who, at, levels)
}

// has reports whether GitHub gives who one of the levels. Bots and accounts that were deleted have none.
func (r *rights) has(who work.Account, at time.Time, levels []string) (bool, lack) {
	if who.Bot || who.ID == 0 {
		return false, lack{}
	}
	if level, asked := r.fresh[who.ID]; asked {
		return slices.Contains(levels, level), lack{}
	}
	known, missing := r.lastAnswer(who)
	switch {
	case missing.is():
		return false, missing
	case !r.judges(known, at, levels):
		return false, lack{kind: lackLevel, who: who}
	}
	return slices.Contains(levels, known.level), lack{}
}

// lastAnswer returns the stored answer about who.
func (r *rights) lastAnswer(who work.Account) (permission, lack) {
	known, looked := r.stored[who.ID]
	if !looked {
		return known, lack{kind: lackStored, who: who}
	}
	return known, lack{}
}

// judges reports whether a stored answer judges what was written at that time.
func (r *rights) judges(known permission, at time.Time, enough []string) bool {
	age := r.now().Sub(known.at)                        // an answer from the future judges nothing
	before := at.Before(known.at.Truncate(time.Second)) // stamps are whole seconds
	return !known.at.IsZero() && age >= 0 && (before && age < answerLife || slices.Contains(enough, known.level) && age < grantLife)
}

// isAllowed reports whether allowed_users names the account.
func (r *rights) isAllowed(who work.Account) (bool, lack) { return r.isAmong(r.allowed(), who) }

// isReviewer reports whether the config names the account as a reviewer. It is asked about each author, so
// that a reviewer's login means the first account that says anything.
func (r *rights) isReviewer(who work.Account) (bool, lack) { return r.isAmong(r.reviewers(), who) }

func (r *rights) isAmong(entries []work.Account, who work.Account) (bool, lack) {
	for _, entry := range entries {
		if named, missing := r.isNamed(entry, who); named || missing.is() {
			return named, missing
		}
	}
	return false, lack{}
}

// allowed are the people whom allowed_users names: each by a login, or by a login and its account's id.
func (r *rights) allowed() (all []work.Account) {
	for _, entry := range r.settings.AllowedUsers {
		login, text, _ := strings.Cut(entry, ":")
		id, _ := strconv.ParseInt(text, 10, 64)
		all = append(all, work.Account{ID: id, Login: login})
	}
	return all
}

// reviewers are the people whom the config names as reviewers.
func (r *rights) reviewers() (all []work.Account) {
	for _, x := range r.settings.Reviewers {
		if x.Human && r.settings.Review.Enabled {
			all = append(all, work.Account{ID: x.LoginID, Login: x.Login})
		}
	}
	return all
}

// isNamed reports whether an entry of the config means the account. Anybody can take a login that was
// given up, so a login means the first account seen with it, or the one whose id stands beside it.
func (r *rights) isNamed(entry, who work.Account) (bool, lack) {
	same := strings.EqualFold(entry.Login, who.Login)
	if who.ID == 0 || entry.Login == "" || entry.ID == 0 && !same {
		return false, lack{}
	}
	if entry.ID == 0 {
		pinned := false
		if entry.ID, pinned = r.pinned[strings.ToLower(entry.Login)]; !pinned {
			return false, lack{kind: lackPin, who: who}
		}
	}
	return entry.ID == who.ID, lack{}
}

// takenFrom returns the id of the account that the config means by a login that who has now; 0: who is that
// account, or the config does not name the login.
func (r *rights) takenFrom(who work.Account) int64 {
	for _, entry := range slices.Concat(r.reviewers(), r.allowed()) {
		if entry.ID == 0 {
			entry.ID = r.pinned[strings.ToLower(entry.Login)]
		}
		if who.ID != 0 && entry.ID != 0 && entry.ID != who.ID && strings.EqualFold(entry.Login, who.Login) {
			return entry.ID
		}
	}
	return 0
}
