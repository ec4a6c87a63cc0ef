package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// claim carries out the plan's moves and makes its turns ours, as many as
// there are free slots. Each is a compare-and-set: what another pass got to
// first is left alone.
func (p *Pass) claim(ctx context.Context, plans []plan.Plan, running int) ([]*env.Lease, error) {
	for _, plan := range plans {
		if err := p.carryOut(ctx, plan); err != nil {
			return nil, err
		}
	}
	most := min(p.maxTurns()-running, p.Day.Left)
	line := order(plans)
	if len(line) > 0 && most > 0 {
		if err := prepare(ctx, p, line[0]); err != nil {
			return nil, err
		}
	}
	var leases []*env.Lease
	for _, planned := range line {
		if len(leases) >= most {
			break
		}
		if !p.Startable(ctx, planned.Item.RepoID, planned.Kind, planned.Reviewer) {
			continue
		}
		l, taken, err := p.claimTurn(ctx, planned)
		if err != nil {
			return leases, err
		}
		if !taken {
			break // every slot is taken
		}
		if l != nil {
			leases = append(leases, l)
		}
	}
	return leases, nil
}

// prepare looks whether git is there, while the first turn's agent and its sandbox are tried:
// what comes of that is for Startable to say.
func prepare(ctx context.Context, p *Pass, first plan.PlannedTurn) error {
	var trial sync.WaitGroup
	row := p.RemoteByID(first.Item.RepoID).Row
	trial.Go(func() { _, _ = p.Agents.Agent(ctx, row, first.Kind, first.Reviewer) })
	defer trial.Wait()
	return p.Preflight(ctx)
}

func (p *Pass) maxTurns() int {
	if p.MaxTurns > 0 {
		return min(p.MaxTurns, p.Config.Runtime.MaxTurnsPerPass)
	}
	return p.Config.Runtime.MaxTurnsPerPass
}

// carryOut stores what the plan decided without an agent: states, finished
// events, notices.
func (p *Pass) carryOut(ctx context.Context, plan plan.Plan) error {
	if plan.Empty() {
		return nil
	}
	now := p.Now()
	var news []store.ReviewLog
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if news, err = moveReviews(ctx, tx, plan); err != nil {
			return err
		}
		for _, h := range plan.Banners {
			if err := p.notices.ShowHanding(ctx, tx, h, now); err != nil {
				return fmt.Errorf("show who has item %d: %w", h.Stop.ItemID, err)
			}
		}
		for _, m := range plan.Moves {
			err := p.notices.Move(ctx, tx, m, now)
			if err != nil && !errors.Is(err, store.ErrStale) {
				return fmt.Errorf("move item %d to %q: %w", m.Item, m.To, err)
			}
			if m.To == work.StateCompleted {
				if err := tx.DropSessions(ctx, m.Item); err != nil {
					return err
				}
			}
		}
		for _, a := range plan.Accepted {
			if err := tx.AcceptHead(ctx, a.Pull, a.Head); err != nil && !errors.Is(err, store.ErrStale) {
				return err
			}
		}
		if err := storePauses(ctx, tx, plan.Pauses); err != nil {
			return err
		}
		for _, f := range plan.Finished {
			if err := tx.FinishEvents(ctx, f.Events, f.Outcome, now); err != nil {
				return err
			}
		}
		for _, item := range plan.Renewed {
			if err := tx.RenewAllowance(ctx, item); err != nil {
				return err
			}
		}
		if err := p.storeObeyed(ctx, tx, plan, now); err != nil {
			return err
		}
		for _, t := range plan.Resumed {
			if err := tx.ResumeTurn(ctx, t); err != nil {
				return err
			}
		}
		for _, a := range plan.Notices {
			a.PlannedAt = now
			if err := planNotice(ctx, tx, a); err != nil {
				return err
			}
		}
		if err := storeMerges(ctx, tx, plan, now); err != nil {
			return err
		}
		return lookedAt(ctx, tx, plan)
	})
	if err == nil {
		tellReviews(ctx, p, plan.Repo, news)
	}
	return err
}

// claimTurn takes a slot and makes the turn ours. Without a free slot taken is
// false; when another pass has the turn the lease is nil.
func (p *Pass) claimTurn(ctx context.Context, planned plan.PlannedTurn) (l *env.Lease, taken bool, err error) {
	r := p.RemoteByID(planned.Item.RepoID)
	s, err := p.freeSlot(p.knownSlot(ctx, planned))
	if err != nil || s == nil {
		return nil, false, err
	}
	l = &env.Lease{Slot: s, Repo: r, Item: planned.Item, Turn: p.newTurn(planned, s.K)}
	var news []store.ReviewLog
	err = p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err = p.addTurn(ctx, tx, planned, l); err == nil {
			news, err = fixBegun(ctx, tx, l)
		}
		return err
	})
	if err == nil {
		err = s.Announce(p.holderOf(l))
	}
	if err != nil {
		s.Release()
		if errors.Is(err, store.ErrStale) {
			return nil, true, nil
		}
		return nil, false, fmt.Errorf("claim %s on %s: %w", planned.Kind, work.Ref(r.Name, planned.Number), err)
	}
	p.Held[s.K] = p.holderOf(l)
	p.Changed(l, "claimed", planned.Reason)
	tellReviews(ctx, p, r.Row, news)
	if planned.Item.State == work.StateAwaitingIssueFollowup {
		p.turns.LogComments(ctx, l, "work resumes", planned.Unheard)
	}
	return l, true, nil
}

func (p *Pass) newTurn(planned plan.PlannedTurn, k int) work.Turn {
	r := p.RemoteByID(planned.Item.RepoID)
	keys := work.EventKeys(planned.Events)
	if planned.Trigger.Key != "" {
		keys = append(keys, planned.Trigger.Key)
	}
	slices.Sort(keys)
	now := p.Now()
	return work.Turn{
		RepoID: planned.Item.RepoID, ItemID: planned.Item.ID, Number: planned.Number, Kind: planned.Kind, Reviewer: planned.Reviewer,
		Key:  work.TurnKey(r.Row.Key(), planned.Number, planned.Kind, planned.Head, keys),
		Step: work.StepClaimed, Slot: k, Reason: planned.Reason, Branch: planned.Branch, Base: planned.Base, Head: planned.Head,
		EventKeys: keys, ClaimedAt: now, UpdatedAt: now,
	}
}

func (p *Pass) addTurn(ctx context.Context, tx *store.Tx, planned plan.PlannedTurn, l *env.Lease) error {
	key, err := unusedKey(ctx, tx, l.Turn.Key)
	if err != nil {
		return err
	}
	l.Turn.Key = key
	id, err := tx.AddTurn(ctx, l.Turn)
	if err != nil {
		return err
	}
	l.Turn.ID = id
	if l.Events, err = tx.WithTexts(ctx, planned.Events); err != nil {
		return err
	}
	if planned.Trigger.Key != "" {
		e := planned.Trigger
		if e.ID, err = tx.AskAgain(ctx, e); err != nil {
			return err
		}
		l.Events = append(l.Events, e)
	}
	if err := tx.AssignEvents(ctx, id, work.EventIDs(l.Events)); err != nil {
		return err
	}
	if err := startOver(ctx, tx, planned); err != nil {
		return err
	}
	return p.notices.Move(ctx, tx, work.Move{Item: planned.Item.ID, Cause: work.CauseClaimed, To: work.StateRunning}, p.Now())
}

// unusedKey gives a turn a key of its own when earlier ones about the same have
// ended and left their events to wait: superseded or failed, and nothing moved since.
func unusedKey(ctx context.Context, tx *store.Tx, key string) (string, error) {
	for {
		earlier, known, err := tx.FindTurn(ctx, key)
		if err != nil || !known || !earlier.Step.Ended() {
			return key, err // one that is under way has the events
		}
		key = work.NextTurnKey(key)
	}
}

// knownSlot is the slot that the item's agent session was made in: providers
// may find sessions by directory.
func (p *Pass) knownSlot(ctx context.Context, planned plan.PlannedTurn) int {
	r := p.RemoteByID(planned.Item.RepoID)
	a, ok := p.Config.AgentFor(r.Name, planned.Kind, planned.Reviewer)
	if !ok {
		return -1
	}
	known := -1
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		_, k, ok, err := tx.GetSession(ctx, store.SessionKey{ItemID: planned.Item.ID, Agent: a.Name, Role: work.Turn{Kind: planned.Kind, Reviewer: planned.Reviewer}.Role()})
		if ok {
			known = k
		}
		return err
	})
	if err != nil {
		return -1
	}
	return known
}

func (p *Pass) holderOf(l *env.Lease) work.Holder {
	return work.Holder{Repo: l.Repo.Name.String(), Number: l.Turn.Number, Issue: l.Item.Number, Turn: l.Turn.Key, Since: p.Local()}
}
