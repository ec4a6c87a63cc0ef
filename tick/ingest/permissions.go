package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// ask answers a question about rights, and learns what it lacks.
func (h *reading) ask(ctx context.Context, question func(*rights) bool) (bool, error) {
	for {
		var first lack
		r := h.rights
		r.lack = func(l lack) { first = cmp.Or(first, l) }
		if yes := question(&r); first == (lack{}) {
			return yes, nil
		}
		if err := h.learnRight(ctx, first); err != nil {
			return false, err
		}
	}
}

// learnRight answers one lack of rights. Levels may be asked side by side.
func (h *reading) learnRight(ctx context.Context, l lack) error {
	switch l.kind { //nolint:exhaustive // the others are not about rights
	case lackStored:
		if known, read := h.ingest.levels.Load(levelOf{h.repo.Row.ID, l.who.ID}); read {
			h.rights.stored[l.who.ID] = known.(permission)
			return nil
		}
		known, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (at permission, err error) {
			at.level, at.at, _, err = tx.GetPermission(ctx, h.repo.Row.ID, l.who.ID)
			return at, err
		})
		if err == nil {
			h.keepLevel(l.who.ID, known)
		}
		return err
	case lackPin:
		return h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
			id, err := tx.PinAllowed(ctx, h.repo.Row.ID, l.who, h.now())
			if err == nil {
				h.rights.pinned[strings.ToLower(l.who.Login)] = id
			}
			return err
		})
	}
	level, err := h.repo.GitHub.Permission(ctx, h.repo.Row.Current, l.who)
	if err == nil { // it counts for later passes, also if the time of this one is up before anything needs it
		err = h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.PutPermission(ctx, h.repo.Row.ID, l.who.ID, l.who.Login, level, h.now())
		})
	}
	if err != nil {
		return fmt.Errorf("ask what %s may do: %w", l.who.Login, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rights.fresh[l.who.ID] = level
	h.keepLevel(l.who.ID, permission{level, h.now()})
	return nil
}

// levelOf names an account's permission in a repository.
type levelOf struct{ repo, account int64 }

// keepLevel keeps what was read for the whole pass. It has its time: it is asked again when it is too old.
func (h *reading) keepLevel(account int64, at permission) {
	h.rights.stored[account] = at
	h.ingest.levels.Store(levelOf{h.repo.Row.ID, account}, at)
}

// The rules of rights, settled.

func (h *reading) mayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.ask(ctx, func(r *rights) bool { return r.mayCommand(who, at) })
}

func (h *reading) maySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.ask(ctx, func(r *rights) bool { return r.maySetLabel(who, at) })
}

func (h *reading) mayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return h.ask(ctx, func(r *rights) bool { return r.mayPush(who, at) })
}

func (h *reading) mayNow(ctx context.Context, who work.Account, allowed bool) (bool, error) {
	return h.ask(ctx, func(r *rights) bool { return r.mayNow(who, allowed) })
}

// A turn may wait for hours, and its agent may work for one. So the authors it works for are
// checked again right before the agent is paid and before a push.

// mayBegin checks who set a label. If we set it for a command, it checks who gave the command. Nobody gave one
// for the label of a roadmap's sub-issue.
func (h *reading) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.accounts.Operators(h.repo.Name.Host), e.Author.ID) {
		may, err = h.maySetLabel(ctx, e.Author, h.now())
		return may, fmt.Sprintf("the label %s was set by %s, who has no triage permission any more", e.State, e.Author.Login), err
	}
	ofRoadmap, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (bool, error) {
		a, known, err := tx.GetAction(ctx, work.FlowToken(h.row.Key(), e.Number))
		return known && a.Extra != "" && a.Sends > 0 && a.State == work.ActionApplied && strings.EqualFold(a.Target, e.State), err
	})
	if err != nil || ofRoadmap {
		return ofRoadmap, "", err
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
	w, err := h.findConfirmation(ctx, e.Number, timeline[at])
	return w.lost == "", w.lost + ", and may not write to the repository any more", err
}

// listUnanswered returns the pending commands that no action answers.
func (h *reading) listUnanswered(ctx context.Context, tx *store.Tx) (waiting []work.Event, err error) {
	pending, err := tx.ListPendingCommands(ctx, h.row.ID)
	for _, e := range pending {
		if err != nil || e.State == work.SaidLocally {
			continue
		}
		var planned bool
		if _, planned, err = tx.GetAction(ctx, work.NoticeToken(h.row.Key(), e.Number, e.Key)); !planned {
			waiting = append(waiting, e)
		}
	}
	return waiting, err
}

// askCommandersAgain ends commands left over from earlier passes whose authors lost the permission
// to give them.
func (h *reading) askCommandersAgain(ctx context.Context) error {
	for _, e := range h.due.commands {
		may, err := h.mayNow(ctx, e.Author, true)
		if err := h.deferOne(err, "ask about %s", e.URL); err != nil {
			return err
		}
		if err == nil && !may {
			h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error {
				return tx.FinishEvents(ctx, []int64{e.ID}, work.OutcomeNoCommander, h.now())
			})
			h.declineCommand(e)
		}
	}
	return nil
}
