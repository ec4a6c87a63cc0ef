package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Whose word counts is asked of GitHub when it counts. Who may write commands,
// is answered, and stands for a text; who may at least triage sets the label
// that begins work, for GitHub lets nobody else set one by hand.

// permissionLife is how long an answer about somebody's permission is acted on:
// who was taken off a repository commands no longer than that.
const permissionLife = time.Minute

// refusalLife is how long a refusal is remembered for what was written before it
// was given. What is written later asks again.
const refusalLife = 10 * time.Minute

// permissions knows what people may do.
type permissions struct {
	database
	env  *env.Env
	repo *env.Repo

	levels    map[int64]string     // as far as this pass asked for them
	answers   map[int64]permission // as far as the database was asked for them
	takenOver map[int64]int64      // accounts whose logins the config names for others, and those others

	about map[int64]bool // who was asked about in this pass for what they wrote
	there map[int]int    // how many of them on an issue or a pull request
}

func newPermissions(e *env.Env, r *env.Repo) *permissions {
	return &permissions{
		database: database{e.Store}, env: e, repo: r,
		levels: map[int64]string{}, answers: map[int64]permission{}, takenOver: map[int64]int64{}, about: map[int64]bool{}, there: map[int]int{},
	}
}

// permission is what GitHub last said about somebody, and when; never: zero.
type permission struct {
	level string
	at    time.Time
}

// mayCommand reports whether somebody's word counts that was written at a time.
func (h *permissions) mayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.may(ctx, who, at, writing...)
}

// mayPush reports whether somebody may write to the repository, by GitHub's word alone:
// whom the config lets give commands need not.
func (h *permissions) mayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.has(ctx, who, at, writing...)
}

var writing = []string{"admin", "maintain", "write"}

// maySetLabel reports whether the label that somebody set begins work. An issue
// form's label names the issue's author, whoever that is.
func (h *permissions) maySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	if slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), who.ID) {
		return true, nil // for a command, whose author was asked about
	}
	return h.may(ctx, who, at, append([]string{"triage"}, writing...)...)
}

// The most people who are asked about in one pass for what they wrote, on one issue or
// pull request and in a repository: sixty who comment on one do not hold up the rest.
const (
	askedThere  = 20
	askedInPass = 60
)

// errAskedEnough says that somebody's permission is asked for in a later pass.
var errAskedEnough = errors.New("more people wrote there than are asked about in one pass")

// answerLife is how long what somebody wrote before an answer about them was given is
// judged by that answer. Passes may be rare, and all who wrote have to be asked about
// within it.
const answerLife = 24 * time.Hour

// mayFeed reports whether a comment counts. Oldest first, so many of its authors are
// asked about in a pass. Before an agent is paid everybody is asked about again.
func (h *permissions) mayFeed(ctx context.Context, e work.Event) (bool, error) {
	if e.Kind == work.EventCommand {
		return h.mayCommand(ctx, e.Author, work.StampOf(e))
	}
	if _, asked := h.levels[e.Author.ID]; !asked && e.Author.ID != 0 {
		level, at, err := h.answerAbout(ctx, e.Author)
		switch {
		case err != nil:
			return false, err
		case h.recent(at, answerLife) && work.StampOf(e).Before(at.Truncate(time.Second)):
			return h.mayAt(ctx, e.Author, level)
		case !h.recent(at, permissionLife):
			if !h.askOneMore(e.Author, e.Number) {
				return false, errAskedEnough
			}
		}
	}
	return h.mayCommand(ctx, e.Author, work.StampOf(e))
}

// mayAt reports whether the comments count of somebody of whom an earlier answer is
// known. Nothing but comments goes by it.
func (h *permissions) mayAt(ctx context.Context, who work.Account, level string) (bool, error) {
	if named, err := h.named(ctx, who); named || err != nil {
		return named, err
	}
	return !who.Bot && slices.Contains(writing, level), nil
}

// askOneMore counts another one, unless there were enough. Who was counted before is not
// counted again.
func (h *permissions) askOneMore(who work.Account, number int) bool {
	if h.about[who.ID] {
		return true
	}
	if h.askedEnough() || h.there[number] >= askedThere {
		return false
	}
	h.about[who.ID] = true
	h.there[number]++
	return true
}

// askedEnough reports whether so many were asked about in this pass that no more are.
func (h *permissions) askedEnough() bool { return len(h.about) >= askedInPass }

func (h *permissions) may(ctx context.Context, who work.Account, at time.Time, levels ...string) (bool, error) {
	if named, err := h.named(ctx, who); named || err != nil {
		return named, err
	}
	return h.has(ctx, who, at, levels...)
}

// has reports whether GitHub gives somebody one of some permissions.
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

// permission is what somebody may do, as far as that is known of the time when
// they wrote something; it is asked for where it is not.
func (h *permissions) permission(ctx context.Context, who work.Account, at time.Time, enough []string) (string, error) {
	if who.ID == 0 {
		return "none", nil // the account was deleted
	}
	if level, asked := h.levels[who.ID]; asked {
		return level, nil
	}
	level, usable, err := h.knownPermission(ctx, who, at, enough)
	if usable || err != nil {
		return level, err
	}
	if level, err = h.askPermission(ctx, who); err == nil {
		h.levels[who.ID] = level
	}
	return level, err
}

// knownPermission is the last answer about somebody, if it may be acted on.
func (h *permissions) knownPermission(ctx context.Context, who work.Account, at time.Time, enough []string) (level string, usable bool, err error) {
	level, asked, err := h.answerAbout(ctx, who)
	if err != nil || asked.IsZero() {
		return "", false, err
	}
	if slices.Contains(enough, level) {
		return level, h.recent(asked, permissionLife), nil
	}
	return level, h.recent(asked, refusalLife) && at.Before(asked.Truncate(time.Second)), nil // stamps are whole seconds
}

// answerAbout is the last answer about somebody, and when it was given; never: zero.
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

// recent reports whether an answer is younger than that; one from the future is not.
func (h *permissions) recent(asked time.Time, life time.Duration) bool {
	age := h.env.Now().Sub(asked)
	return age >= 0 && age < life
}

// prefetchFeed is prefetch for the author of a comment. going are those that were asked about
// in advance and are still to be judged: beside them no more are asked about than mayFeed does.
func (h *permissions) prefetchFeed(ctx context.Context, e work.Event, going []work.Event) (asks bool) {
	all, there := len(h.about), h.there[e.Number]
	for _, g := range going {
		if all++; g.Number == e.Number {
			there++
		}
	}
	if e.Kind != work.EventCommand && (all >= askedInPass || there >= askedThere) {
		return false
	}
	return h.prefetch(ctx, e.Author, work.StampOf(e))
}

// prefetch asks in advance what somebody may do whose word is about to be judged, unless it
// is known.
func (h *permissions) prefetch(ctx context.Context, who work.Account, at time.Time) (asks bool) {
	if _, known := h.levels[who.ID]; known || who.ID == 0 || who.Bot {
		return false
	}
	_, asked, err := h.answerAbout(ctx, who)
	if err != nil || h.recent(asked, permissionLife) || h.recent(asked, answerLife) && at.Before(asked.Truncate(time.Second)) {
		return false
	}
	repo := h.repo.Row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.Permission(ctx, repo, who) })
	return true
}

func (h *permissions) askPermission(ctx context.Context, who work.Account) (string, error) {
	level, err := h.repo.GitHub.Permission(ctx, h.repo.Row.Current, who)
	if err != nil {
		return "", err
	}
	delete(h.answers, who.ID)
	return level, h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.PutPermission(ctx, h.repo.Row.ID, who.ID, who.Login, level, h.env.Now())
	})
}

// named reports whether allowed_users names an account. A login can be given up and
// taken by anybody, so it stands for the account that was seen under it first, or for
// the id that the config gives with it: "login:id".
func (h *permissions) named(ctx context.Context, who work.Account) (bool, error) {
	if who.ID == 0 {
		return false, nil
	}
	for _, entry := range h.repo.Settings.AllowedUsers {
		login, id, given := strings.Cut(entry, ":")
		if !strings.EqualFold(login, who.Login) {
			continue
		}
		pinned, err := strconv.ParseInt(id, 10, 64)
		if !given {
			err = h.update(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				pinned, err = tx.PinAllowed(ctx, h.repo.Row.ID, who, h.env.Now())
				return err
			})
		}
		if err != nil || pinned == who.ID {
			return err == nil, err
		}
		h.takenOver[who.ID] = pinned
	}
	return false, nil
}

// A turn may wait for hours, and its agent may work for one. So those for whom it
// is made are asked about again, right before the agent is paid and before a push.

// stillMay reports whether the author of an event may ask for it now; of a label that
// begins the work also why not, in words for people.
func (h *reading) stillMay(ctx context.Context, e work.Event) (may bool, why string, err error) {
	switch {
	case e.Author.Login == "": // known by its key alone, or nobody's
		return true, "", nil
	case e.Kind == work.EventLabelled:
		return h.mayBegin(ctx, e)
	case e.Kind.Said():
		may, err = h.permissions.mayCommand(ctx, e.Author, h.env.Now())
		return may, "", err
	}
	return true, "", nil
}

// mayBegin asks about who set a label; of one that we set, about who gave the command.
func (h *reading) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), e.Author.ID) {
		may, err = h.permissions.maySetLabel(ctx, e.Author, h.env.Now())
		return may, fmt.Sprintf("the label %s was set by %s, who has no triage permission any more", e.State, e.Author.Login), err
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.repo.Row.Current, e.Number)
	at := slices.IndexFunc(timeline, func(t github.TimelineEvent) bool { return strconv.FormatInt(t.ID, 10) == e.Source })
	if err != nil || at < 0 {
		return err == nil, "", err
	}
	w, err := h.wordFor(ctx, github.Issue{Number: e.Number}, timeline[at])
	return w.lost == "", w.lost + ", and may not write to the repository any more", err
}

// askCommandersAgain ends commands that wait to be carried out since an earlier pass
// and whose authors may give none any more.
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
		may, err := h.permissions.mayCommand(ctx, e.Author, h.env.Now())
		if github.OutOfTime(err) { // what was read is worth keeping
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
