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

// permissions learn the facts that the rights of one repository lack: from the database, and from GitHub.
type permissions struct {
	database
	rights
	env  *env.Env
	repo *env.Repo
	mu   sync.Mutex // guards the facts of rights while they are learned side by side
}

func newPermissions(e *env.Env, r *env.Repo) *permissions {
	return &permissions{database: database{e.Store}, env: e, repo: r, rights: rights{
		settings: r.Settings, operators: func() []int64 { return e.Accounts.Operators(r.Name.Host) }, now: e.Now,
		fresh: map[int64]string{}, stored: map[int64]permission{}, pinned: map[string]int64{},
	}}
}

// settle answers a question about rights, and learns what it lacks.
func (p *permissions) settle(ctx context.Context, question func() (bool, lack)) (bool, error) {
	for {
		yes, missing := question()
		if !missing.is() {
			return yes, nil
		}
		if err := p.learn(ctx, missing); err != nil {
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
	level, err := p.ask(ctx, l.who)
	if err != nil {
		return fmt.Errorf("ask what %s may do: %w", l.who.Login, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh[l.who.ID], p.stored[l.who.ID] = level, permission{level, p.now()}
	return nil
}

// ask asks GitHub and stores the answer: it counts for later passes, also if the time of this one is
// up before anything needed it.
func (p *permissions) ask(ctx context.Context, who work.Account) (string, error) {
	level, err := p.repo.GitHub.Permission(ctx, p.repo.Row.Current, who)
	if err != nil {
		return "", err
	}
	return level, p.update(context.WithoutCancel(ctx), func(ctx context.Context, tx *store.Tx) error {
		return tx.PutPermission(ctx, p.repo.Row.ID, who.ID, who.Login, level, p.now())
	})
}

// The rules of rights, settled.

func (p *permissions) mayCommand(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func() (bool, lack) { return p.rights.mayCommand(who, at) })
}

func (p *permissions) maySetLabel(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func() (bool, lack) { return p.rights.maySetLabel(who, at) })
}

func (p *permissions) mayPush(ctx context.Context, who work.Account, at time.Time) (bool, error) {
	return p.settle(ctx, func() (bool, lack) { return p.rights.mayPush(who, at) })
}

func (p *permissions) mayNow(ctx context.Context, who work.Account, allowed bool) (bool, error) {
	return p.settle(ctx, func() (bool, lack) { return p.rights.mayNow(who, allowed) })
}

func (p *permissions) isNamed(ctx context.Context, entry, who work.Account) (bool, error) {
	return p.settle(ctx, func() (bool, lack) { return p.rights.isNamed(entry, who) })
}

// A turn may wait for hours, and its agent may work for one. So the authors it works for are
// checked again right before the agent is paid and before a push.

// mayBegin checks who set a label. If we set it for a command, it checks who gave the command. Nobody gave one
// for the label of a roadmap's sub-issue.
func (h *reading) mayBegin(ctx context.Context, e work.Event) (may bool, why string, err error) {
	if !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), e.Author.ID) {
		may, err = h.permissions.maySetLabel(ctx, e.Author, h.env.Now())
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
	w, err := h.findConfirmation(ctx, github.Issue{Number: e.Number}, timeline[at])
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
		may, err := h.permissions.mayNow(ctx, e.Author, true)
		if fatal := h.deferOne(err, "ask about %s", e.URL); fatal != nil {
			return fatal
		}
		if err == nil && !may {
			h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error {
				return tx.FinishEvents(ctx, []int64{e.ID}, work.OutcomeNoCommander, h.env.Now())
			})
			h.declineCommand(e)
		}
	}
	return nil
}
