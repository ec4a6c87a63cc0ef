package ingest

import (
	"cmp"
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

// permissions learn the facts that the rights of one repository lack: from the database, and from GitHub.
type permissions struct {
	database
	rights
	repo *env.Repo
	mu   sync.Mutex // guards the facts of rights while they are learned side by side
}

// settle answers a question about rights, and learns what it lacks.
func (p *permissions) settle(ctx context.Context, question func(*rights) bool) (bool, error) {
	for {
		var first lack
		r := p.rights
		r.lack = func(l lack) { first = cmp.Or(first, l) }
		if yes := question(&r); first == (lack{}) {
			return yes, nil
		}
		if err := p.learn(ctx, first); err != nil {
			return false, err
		}
	}
}

// learn answers one lack of rights. Levels may be asked side by side.
func (p *permissions) learn(ctx context.Context, l lack) error {
	switch l.kind { //nolint:exhaustive // the others are not about rights
	case lackStored:
		known, err := readRows(ctx, p.database, func(ctx context.Context, tx *store.Tx) (at permission, err error) {
			at.level, at.at, _, err = tx.GetPermission(ctx, p.repo.Row.ID, l.who.ID)
			return at, err
		})
		if err == nil {
			p.stored[l.who.ID] = known
		}
		return err
	case lackPin:
		return p.update(ctx, func(ctx context.Context, tx *store.Tx) error {
			id, err := tx.PinAllowed(ctx, p.repo.Row.ID, l.who, p.now())
			if err == nil {
				p.pinned[strings.ToLower(l.who.Login)] = id
			}
			return err
		})
	}
	level, err := p.repo.GitHub.Permission(ctx, p.repo.Row.Current, l.who)
	if err == nil { // it counts for later passes, also if the time of this one is up before anything needs it
		err = p.update(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.PutPermission(ctx, p.repo.Row.ID, l.who.ID, l.who.Login, level, p.now())
		})
	}
	if err != nil {
		return fmt.Errorf("ask what %s may do: %w", l.who.Login, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh[l.who.ID], p.stored[l.who.ID] = level, permission{level, p.now()}
	return nil
}

// The rules of rights, settled.

func (p *permissions) mayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func(r *rights) bool { return r.mayCommand(who, at) })
}

func (p *permissions) maySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func(r *rights) bool { return r.maySetLabel(who, at) })
}

func (p *permissions) mayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func(r *rights) bool { return r.mayPush(who, at) })
}

func (p *permissions) mayNow(ctx context.Context, who work.Account, allowed bool) (bool, error) {
	return p.settle(ctx, func(r *rights) bool { return r.mayNow(who, allowed) })
}

// A turn may wait for hours, and its agent may work for one. So the authors it works for are
// checked again right before the agent is paid and before a push.

// mayBegin checks who set a label. If we set it for a command, it checks who gave the command. Nobody gave one
// for the label of a roadmap's sub-issue.
func (h *reading) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.accounts.Operators(h.repo.Name.Host), e.Author.ID) {
		may, err = h.permissions.maySetLabel(ctx, e.Author, h.now())
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

// askCommandersAgain ends commands left over from earlier passes whose authors lost the permission
// to give them.
func (h *reading) askCommandersAgain(ctx context.Context) error {
	waiting := stored(ctx, h, func(ctx context.Context, tx *store.Tx) (waiting []work.Event, err error) {
		pending, err := tx.ListPendingCommands(ctx, h.repo.Row.ID)
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
	})
	for _, e := range waiting {
		may, err := h.permissions.mayNow(ctx, e.Author, true)
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
