package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
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

// MayCommand reports whether somebody's word counts that was written at a time.
func (h *People) MayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.may(ctx, who, at, writing...)
}

// MayPush reports whether somebody may write to the repository, by GitHub's word alone:
// whom the config lets give commands need not.
func (h *People) MayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.has(ctx, who, at, writing...)
}

var writing = []string{"admin", "maintain", "write"}

// MaySetLabel reports whether the label that somebody set begins work. An issue
// form's label names the author, whoever that is.
func (h *People) MaySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	if slices.Contains(h.P.Accounts.Operators(h.R.Name.Host), who.ID) {
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

// ErrAskedEnough says that somebody's permission is asked for in a later pass.
var ErrAskedEnough = errors.New("more people wrote there than are asked about in one pass")

// asked are the people who were asked about in this pass for what they wrote, and how many
// there, by the number of the issue or pull request.
type asked struct {
	about map[int64]bool
	there map[int]int
}

// answerLife is how long what somebody wrote before an answer about them was given is
// judged by that answer. Passes may be rare, and all who wrote have to be asked about
// within it.
const answerLife = 24 * time.Hour

// MayFeed reports whether a comment counts. Oldest first, so many of its authors are
// asked about in a pass. Before an agent is paid everybody is asked about again.
func (h *People) MayFeed(ctx context.Context, e work.Event) (bool, error) {
	if e.Kind == work.EventCommand {
		return h.MayCommand(ctx, e.Author, work.StampOf(e))
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
				return false, ErrAskedEnough
			}
		}
	}
	return h.MayCommand(ctx, e.Author, work.StampOf(e))
}

// mayAt reports whether the comments count of somebody of whom an earlier answer is
// known. Nothing but comments goes by it.
func (h *People) mayAt(ctx context.Context, who work.Account, level string) (bool, error) {
	if named, err := h.named(ctx, who); named || err != nil {
		return named, err
	}
	return !who.Bot && slices.Contains(writing, level), nil
}

// askOneMore counts another one, unless there were enough. Who was counted before is not
// counted again.
func (h *People) askOneMore(who work.Account, number int) bool {
	if h.asked.about[who.ID] {
		return true
	}
	if h.AskedEnough() || h.asked.there[number] >= askedThere {
		return false
	}
	h.asked.about[who.ID] = true
	h.asked.there[number]++
	return true
}

// AskedEnough reports whether so many were asked about in this pass that no more are.
func (h *Batch) AskedEnough() bool { return len(h.asked.about) >= askedInPass }

func (h *People) may(ctx context.Context, who work.Account, at time.Time, levels ...string) (bool, error) {
	if named, err := h.named(ctx, who); named || err != nil {
		return named, err
	}
	return h.has(ctx, who, at, levels...)
}

// has reports whether GitHub gives somebody one of some permissions.
func (h *People) has(ctx context.Context, who work.Account, at time.Time, levels ...string) (bool, error) {
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
func (h *People) permission(ctx context.Context, who work.Account, at time.Time, enough []string) (string, error) {
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
func (h *People) knownPermission(ctx context.Context, who work.Account, at time.Time, enough []string) (level string, usable bool, err error) {
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
func (h *People) answerAbout(ctx context.Context, who work.Account) (level string, asked time.Time, err error) {
	if a, known := h.answers[who.ID]; known {
		return a.level, a.at, nil
	}
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		level, asked, _, err = tx.GetPermission(ctx, h.Repo.ID, who.ID)
		return err
	})
	if err == nil {
		h.answers[who.ID] = answer{level, asked}
	}
	return level, asked, err
}

// recent reports whether an answer is younger than that; one from the future is not.
func (h *People) recent(asked time.Time, life time.Duration) bool {
	age := h.P.Now().Sub(asked)
	return age >= 0 && age < life
}

// ForeseeFeed is Foresee for the author of a comment. going are those that were asked about
// in advance and are still to be judged: beside them no more are asked about than MayFeed does.
func (h *People) ForeseeFeed(ctx context.Context, e work.Event, going []work.Event) (asks bool) {
	all, there := len(h.asked.about), h.asked.there[e.Number]
	for _, g := range going {
		if all++; g.Number == e.Number {
			there++
		}
	}
	if e.Kind != work.EventCommand && (all >= askedInPass || there >= askedThere) {
		return false
	}
	return h.Foresee(ctx, e.Author, work.StampOf(e))
}

// Foresee asks in advance what somebody may do whose word is about to be judged, unless it
// is known.
func (h *People) Foresee(ctx context.Context, who work.Account, at time.Time) (asks bool) {
	if _, known := h.levels[who.ID]; known || who.ID == 0 || who.Bot {
		return false
	}
	_, asked, err := h.answerAbout(ctx, who)
	if err != nil || h.recent(asked, permissionLife) || h.recent(asked, answerLife) && at.Before(asked.Truncate(time.Second)) {
		return false
	}
	repo := h.Repo.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.Permission(ctx, repo, who) })
	return true
}

func (h *People) askPermission(ctx context.Context, who work.Account) (string, error) {
	level, err := h.R.GitHub.Permission(ctx, h.Repo.Current, who)
	if err != nil {
		return "", err
	}
	delete(h.answers, who.ID)
	return level, h.Update(ctx, func(ctx context.Context, tx *store.Tx) error {
		return tx.PutPermission(ctx, h.Repo.ID, who.ID, who.Login, level, h.P.Now())
	})
}

// named reports whether allowed_users names an account. A login can be given up and
// taken by anybody, so it stands for the account that was seen under it first, or for
// the id that the config gives with it: "login:id".
func (h *People) named(ctx context.Context, who work.Account) (bool, error) {
	if who.ID == 0 {
		return false, nil
	}
	for _, entry := range h.R.Settings.AllowedUsers {
		login, id, given := strings.Cut(entry, ":")
		if !strings.EqualFold(login, who.Login) {
			continue
		}
		pinned, err := strconv.ParseInt(id, 10, 64)
		if !given {
			err = h.Update(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				pinned, err = tx.PinAllowed(ctx, h.Repo.ID, who, h.P.Now())
				return err
			})
		}
		if err != nil || pinned == who.ID {
			return err == nil, err
		}
		h.TakenOver[who.ID] = pinned
	}
	return false, nil
}

// NewPeople asks about people for a batch.
func NewPeople(b *Batch) *People { return &People{b, map[int64]answer{}} }
