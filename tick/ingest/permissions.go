package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Permissions are read from GitHub when they are needed. Writers may give commands, get answers and
// approve texts. Setting the label that begins work needs triage only: GitHub lets nobody with less
// set a label by hand.

// An answer of GitHub about somebody judges what they wrote before it, for answerLife, so that a long
// conversation is judged over several passes. One that grants also judges what they write for grantLife
// after it. A command is judged by a grant from after it for grantLife, and by a refusal for refusalLife;
// an approval right before a merge asks GitHub in its own pass.
const (
	grantLife   = time.Minute
	refusalLife = 10 * time.Minute
	answerLife  = 24 * time.Hour
)

// permissions answers what accounts may do in one repository.
type permissions struct {
	database
	env  *env.Env
	repo *env.Repo

	levels    map[int64]string       // answers of GitHub in this pass, by account id
	early     answers[int64, string] // those of them that were asked together and that nothing needed yet
	answers   map[int64]permission   // answers stored in the database, by account id
	takenOver map[int64]int64        // accounts that use a login the config gives to another account, and the id of that other

	pinned map[string]int64 // accounts that logins of the config mean, by login in lower case
}

func newPermissions(e *env.Env, r *env.Repo) *permissions {
	return &permissions{
		database: database{e.Store}, env: e, repo: r,
		levels: map[int64]string{}, early: answers[int64, string]{}, answers: map[int64]permission{}, takenOver: map[int64]int64{}, pinned: map[string]int64{},
	}
}

// permission is GitHub's last answer about an account. at is zero if there is none.
type permission struct {
	level string
	at    time.Time
}

// mayCommand reports whether a command or comment that who wrote at that time counts.
func (h *permissions) mayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.may(ctx, who, at, writing...)
}

// mayNow reports whether who may write to the repository now: GitHub is asked, once per pass. With
// allowed, those whom allowed_users names need no permission.
func (h *permissions) mayNow(ctx context.Context, who work.Account, allowed bool) (bool, error) {
	if allowed {
		if named, err := h.isAllowedUser(ctx, who); named || err != nil {
			return named, err
		}
	}
	if who.Bot || who.ID == 0 {
		return false, nil
	}
	level, asked := h.levels[who.ID]
	if !asked {
		var err error
		if level, err = h.askPermission(ctx, who); err != nil {
			return false, fmt.Errorf("ask what %s may do: %w", who.Login, err)
		}
		h.levels[who.ID] = level
	}
	return work.MayWrite(level), nil
}

// mayPush reports whether GitHub lets who write to the repository. Unlike mayCommand it ignores
// allowed_users: the accounts there need no write permission.
func (h *permissions) mayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.has(ctx, who, at, writing...)
}

var writing = []string{"admin", "maintain", "write"}

// maySetLabel reports whether a label set by who begins work. GitHub attributes the label of an
// issue form to the issue's author, even one without triage permission.
func (h *permissions) maySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	if slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), who.ID) {
		return true, nil // set by us for a command; the permission of its author was checked
	}
	return h.may(ctx, who, at, append([]string{"triage"}, writing...)...)
}

// mayComment reports whether a comment or command counts. Before an agent is paid, GitHub is asked about
// all authors again.
func (h *permissions) mayComment(ctx context.Context, e work.Event) (bool, error) {
	if e.Kind == work.EventCommand {
		return h.mayHaveCommanded(ctx, e)
	}
	return h.mayCommand(ctx, e.Author, work.StampOf(e))
}

// mayHaveCommanded reports whether a command counts. GitHub's answer from after the command judges it: a
// grant for a minute, a refusal for longer, so that a pass that ends too early does not have the next one
// ask about everybody again.
func (h *permissions) mayHaveCommanded(ctx context.Context, e work.Event) (bool, error) {
	level, asked, err := h.answerAbout(ctx, e.Author)
	if err != nil {
		return false, err
	}
	age, life := h.env.Now().Sub(asked), refusalLife
	if work.MayWrite(level) {
		life = grantLife
	}
	if e.Author.Bot || age < 0 || age >= life || !work.StampOf(e).Before(asked.Truncate(time.Second)) {
		return h.mayNow(ctx, e.Author, true)
	}
	named, err := h.isAllowedUser(ctx, e.Author)
	return named || err == nil && work.MayWrite(level), err
}

func (h *permissions) may(ctx context.Context, who work.Account, at time.Time, levels ...string) (bool, error) {
	if named, err := h.isAllowedUser(ctx, who); named || err != nil {
		return named, err
	}
	return h.has(ctx, who, at, levels...)
}

// has reports whether GitHub gives who one of the levels. Bots have none.
func (h *permissions) has(ctx context.Context, who work.Account, at time.Time, levels ...string) (bool, error) {
	if who.Bot {
		return false, nil
	}
	level, err := h.permission(ctx, who, at, levels)
	if err != nil {
		return false, fmt.Errorf("ask what %s may do: %w", who.Login, err)
	}
	return slices.Contains(levels, level), nil
}

// permission returns the level of who. A stored answer is used if it judges what was written at that
// time; otherwise GitHub is asked, once per pass.
func (h *permissions) permission(ctx context.Context, who work.Account, at time.Time, enough []string) (string, error) {
	if who.ID == 0 {
		return "none", nil // the account was deleted
	}
	if level, asked := h.levels[who.ID]; asked {
		return level, nil
	}
	level, judges, err := h.stored(ctx, who, at, enough)
	if judges || err != nil {
		return level, err
	}
	if level, err = h.askPermission(ctx, who); err == nil {
		h.levels[who.ID] = level
	}
	return level, err
}

// stored returns the stored answer about who, and whether it judges what was written at that time.
func (h *permissions) stored(ctx context.Context, who work.Account, at time.Time, enough []string) (level string, judges bool, err error) {
	level, asked, err := h.answerAbout(ctx, who)
	return level, err == nil && h.judges(permission{level, asked}, at, enough), err
}

// judges reports whether a stored answer judges what was written at that time.
func (h *permissions) judges(known permission, at time.Time, enough []string) bool {
	age := h.env.Now().Sub(known.at)                    // an answer from the future judges nothing
	before := at.Before(known.at.Truncate(time.Second)) // stamps are whole seconds
	return !known.at.IsZero() && age >= 0 && (before && age < answerLife || slices.Contains(enough, known.level) && age < grantLife)
}

// answerAbout returns the stored answer about who. asked is zero if there is none.
func (h *permissions) answerAbout(ctx context.Context, who work.Account) (level string, asked time.Time, err error) {
	if a, known := h.answers[who.ID]; known {
		return a.level, a.at, nil
	}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		level, asked, _, err = tx.GetPermission(ctx, h.repo.Row.ID, who.ID)
		return err
	})
	if err == nil {
		h.answers[who.ID] = permission{level, asked}
	}
	return level, asked, err
}

// send asks GitHub what who may do, which a text of that time is about to need, unless the answer is
// known or on its way.
func (h *permissions) send(ctx context.Context, group *sync.WaitGroup, who work.Account, at time.Time) error {
	_, known := h.levels[who.ID]
	if _, asked := h.early[who.ID]; known || asked || who.ID == 0 || who.Bot {
		return nil
	}
	if _, judges, err := h.stored(ctx, who, at, writing); judges || err != nil {
		return err
	}
	h.early.send(ctx, group, who.ID, h.asking(who))
	return nil
}

// ask asks GitHub what who may do, unless the stored answer judges a text of that time.
func (h *permissions) ask(ctx context.Context, who work.Account, at time.Time) error {
	if who.ID == 0 || who.Bot {
		return nil
	}
	var known permission
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		known.level, known.at, _, err = tx.GetPermission(ctx, h.repo.Row.ID, who.ID)
		return err
	})
	if err != nil || h.judges(known, at, writing) {
		return err
	}
	_, err = h.asking(who)(ctx)
	return err
}

// asking asks GitHub and stores the answer: it counts for later passes, also if the time of this one is
// up before anything needed it.
func (h *permissions) asking(who work.Account) func(context.Context) (string, error) {
	repo := h.repo.Row
	return func(ctx context.Context) (string, error) {
		level, err := h.repo.GitHub.Permission(ctx, repo.Current, who)
		if err != nil {
			return "", err
		}
		return level, h.update(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error {
			return tx.PutPermission(ctx, repo.ID, who.ID, who.Login, level, h.env.Now())
		})
	}
}

func (h *permissions) askPermission(ctx context.Context, who work.Account) (string, error) {
	level, err := h.early.take(ctx, who.ID, h.asking(who))
	if err == nil {
		delete(h.answers, who.ID)
	}
	return level, err
}

// isAllowedUser reports whether allowed_users names the account.
func (h *permissions) isAllowedUser(ctx context.Context, who work.Account) (bool, error) {
	for _, entry := range h.repo.Settings.AllowedUsers {
		login, text, _ := strings.Cut(entry, ":")
		id, _ := strconv.ParseInt(text, 10, 64)
		if named, err := h.isNamed(ctx, login, id, who); named || err != nil {
			return named, err
		}
	}
	return false, nil
}

// isReviewer reports whether the config names the account as a reviewer. A pass calls it about each
// author, so that a reviewer's login means the first account that says anything.
func (h *permissions) isReviewer(ctx context.Context, who work.Account) (bool, error) {
	if !h.repo.Settings.Review.Enabled {
		return false, nil
	}
	for _, x := range h.repo.Settings.Reviewers {
		if !x.Human {
			continue
		}
		if named, err := h.isNamed(ctx, x.Login, x.LoginID, who); named || err != nil {
			return named, err
		}
	}
	return false, nil
}

// isNamed reports whether a login of the config means the account. Anybody can take a login that was
// given up, so a login means the first account seen with it, or the one whose id stands beside it.
func (h *permissions) isNamed(ctx context.Context, login string, id int64, who work.Account) (bool, error) {
	same := strings.EqualFold(login, who.Login)
	if who.ID == 0 || login == "" || id == 0 && !same {
		return false, nil
	}
	if key := strings.ToLower(login); id == 0 {
		var known bool
		if id, known = h.pinned[key]; !known {
			err := h.update(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				id, err = tx.PinAllowed(ctx, h.repo.Row.ID, who, h.env.Now())
				return err
			})
			if err != nil {
				return false, err
			}
			h.pinned[key] = id
		}
	}
	if same && id != who.ID {
		h.takenOver[who.ID] = id
	}
	return id == who.ID, nil
}

// A turn may wait for hours, and its agent may work for one. So the authors it works for are
// checked again right before the agent is paid and before a push.

// stillMay reports whether the author of an event still has the permission for it. For a label that
// begins work, why is the reason in words for people.
func (h *reading) stillMay(ctx context.Context, e work.Event) (may bool, why string, err error) {
	switch {
	case e.Author.Login == "": // the event is known by its key alone, or has no author
		return true, "", nil
	case e.Kind == work.EventLabelled:
		return h.mayBegin(ctx, e)
	case e.Kind.IsComment():
		may, err = h.permissions.mayCommand(ctx, e.Author, h.env.Now())
		return may, "", err
	}
	return true, "", nil
}

// mayBegin checks who set a label. If we set it for a command, it checks who gave the command.
func (h *reading) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), e.Author.ID) {
		may, err = h.permissions.maySetLabel(ctx, e.Author, h.env.Now())
		return may, fmt.Sprintf("the label %s was set by %s, who has no triage permission any more", e.State, e.Author.Login), err
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.repo.Row.Current, e.Number)
	if _, moved := errors.AsType[*transport.MovedError](err); moved || github.IsStatus(err, 404, 410) {
		_, ok, err := h.repo.GitHub.Issue(ctx, h.repo.Row.Current, e.Number) // a repository that was renamed is an error
		return !ok, "", err                                                  // what reads the issue says that it is gone
	}
	at := slices.IndexFunc(timeline, func(t github.TimelineEvent) bool { return strconv.FormatInt(t.ID, 10) == e.Source })
	if err != nil || at < 0 {
		return err == nil, "", err
	}
	w, err := h.findConfirmation(ctx, github.Issue{Number: e.Number}, timeline[at])
	return w.lost == "", w.lost + ", and may not write to the repository any more", err
}

// askCommandersAgain ends commands left over from earlier passes whose authors lost the permission
// to give them.
func (h *reading) askCommandersAgain(ctx context.Context) error {
	var waiting []work.Event
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		pending, err := tx.ListPendingCommands(ctx, h.repo.Row.ID)
		for _, e := range pending {
			if e.State == work.SaidLocally {
				continue
			}
			_, planned, err := tx.GetAction(ctx, work.NoticeToken(h.row.Key(), e.Number, e.Key))
			if err != nil {
				return err
			}
			if !planned {
				waiting = append(waiting, e)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range waiting {
		may, err := h.permissions.mayNow(ctx, e.Author, true)
		if github.OutOfTime(err) { // store what was read so far
			h.stopReading(err)
			return nil
		}
		if fatal := h.deferOne(err, "ask about %s", e.URL); fatal != nil {
			return fatal
		}
		if err == nil && !may {
			h.revoked = append(h.revoked, e)
			h.declineCommand(e)
		}
	}
	return nil
}

func (h *reading) storeRevoked(ctx context.Context, tx *store.Tx) error {
	for _, e := range h.revoked {
		if err := tx.FinishEvents(ctx, []int64{e.ID}, work.OutcomeNoCommander, h.env.Now()); err != nil {
			return err
		}
	}
	return nil
}
