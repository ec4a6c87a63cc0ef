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

// rights say what accounts may do in one repository. They ask nobody: a rule that lacks a fact says which one, and its
// answer counts for nothing until permissions has learned it.
type rights struct {
	lack      func(lack) // required
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
func (r *rights) mayCommand(who work.Account, at time.Time) bool {
	return r.isAllowed(who) || r.has(who, at, writing)
}

// maySetLabel reports whether a label set by who begins work. GitHub attributes the label of an
// issue form to the author, even one without triage permission. We set one for a command, when the
// permission of its author was checked.
func (r *rights) maySetLabel(who work.Account, at time.Time) bool {
	return slices.Contains(r.operators(), who.ID) || r.isAllowed(who) || r.has(who, at, append([]string{"triage"}, writing...))
}

// mayPush reports whether GitHub lets who write to the repository. Unlike mayCommand it ignores
// allowed_users: the accounts there need no write permission.
func (r *rights) mayPush(who work.Account, at time.Time) bool { return r.has(who, at, writing) }

// mayComment reports whether a comment or command counts. Before an agent is paid, GitHub is asked about
// all authors again.
func (r *rights) mayComment(e work.Event) bool {
	if e.Kind != work.EventCommand {
		return r.mayCommand(e.Author, work.StampOf(e))
	}
	known, looked := r.lastAnswer(e.Author)
	if !looked {
		return false
	}
	// A refusal lasts longer, so that a pass that ends too early does not have the next one ask about everybody again.
	age, life := r.now().Sub(known.at), refusalLife
	if work.MayWrite(known.level) {
		life = grantLife
	}
	if e.Author.Bot || age < 0 || age >= life || !work.StampOf(e).Before(known.at.Truncate(time.Second)) {
		return r.mayNow(e.Author, true)
	}
	return r.isAllowed(e.Author) || work.MayWrite(known.level)
}

// mayNow reports whether who may write to the repository now: GitHub is asked, once a pass. With
// allowed, those whom allowed_users names need no permission.
func (r *rights) mayNow(who work.Account, allowed bool) bool {
	if allowed && r.isAllowed(who) {
		return true
	}
	if who.Bot || who.ID == 0 {
		return false
	}
	level, asked := r.fresh[who.ID]
	if !asked {
		r.lack(lack{kind: lackLevel, who: who})
	}
	return work.MayWrite(level)
}

// has reports whether GitHub gives who one of the levels. Bots and accounts that were deleted have none.
func (r *rights) has(who work.Account, at time.Time, levels []string) bool {
	if who.Bot || who.ID == 0 {
		return false
	}
	if level, asked := r.fresh[who.ID]; asked {
		return slices.Contains(levels, level)
	}
	known, looked := r.lastAnswer(who)
	age := r.now().Sub(known.at)                        // an answer from the future judges nothing
	before := at.Before(known.at.Truncate(time.Second)) // stamps are whole seconds
	judges := !known.at.IsZero() && age >= 0 && (before && age < answerLife || slices.Contains(levels, known.level) && age < grantLife)
	if looked && !judges {
		r.lack(lack{kind: lackLevel, who: who})
	}
	return slices.Contains(levels, known.level)
}

// lastAnswer returns the stored answer about who.
func (r *rights) lastAnswer(who work.Account) (permission, bool) {
	known, looked := r.stored[who.ID]
	if !looked {
		r.lack(lack{kind: lackStored, who: who})
	}
	return known, looked
}

// isAllowed reports whether allowed_users names the account.
func (r *rights) isAllowed(who work.Account) bool {
	return slices.ContainsFunc(r.allowed(), func(entry work.Account) bool { return r.isNamed(entry, who) })
}

// isReviewer reports whether the config names the account as a reviewer.
func (r *rights) isReviewer(who work.Account) bool {
	return slices.ContainsFunc(r.reviewers(), func(entry work.Account) bool { return r.isNamed(entry, who) })
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
func (r *rights) isNamed(entry, who work.Account) bool {
	if who.ID == 0 || entry.Login == "" || entry.ID == 0 && !strings.EqualFold(entry.Login, who.Login) {
		return false
	}
	if entry.ID != 0 {
		return entry.ID == who.ID
	}
	id, pinned := r.pinned[strings.ToLower(entry.Login)]
	if !pinned {
		r.lack(lack{kind: lackPin, who: who})
	}
	return id == who.ID
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
