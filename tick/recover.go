package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// recover resumes unfinished turns that no running pass works on: turns of a killed pass, and turns
// whose wait is over. A turn's pass is alive only while it holds the lock of a slot that names the turn,
// or on another machine the turn's lock; nothing else counts.
func (p *Pass) recover(ctx context.Context) ([]*env.Lease, error) {
	if err := p.ReadHeld(ctx); err != nil {
		return nil, err
	}
	var open []work.Run
	var unfinished []work.Turn
	read := func(tx *store.Tx) (err error) {
		if open, err = tx.ListOpenRuns(ctx); err == nil {
			unfinished, err = tx.ListUnfinishedTurns(ctx)
		}
		return err
	}
	err := p.Store.View(ctx, read)
	if err == nil && len(open) > 0 {
		err = errors.Join(p.turns.Runner.EndDeadRuns(ctx, open), p.Store.View(ctx, read)) // it changes turns
	}
	if err != nil {
		return nil, err
	}
	var leases []*env.Lease
	for _, t := range unfinished {
		if !p.resumable(ctx, t) {
			continue
		}
		if elsewhere, err := p.onlyElsewhere(ctx, t); err != nil {
			return leases, err
		} else if elsewhere {
			continue
		}
		if err := p.Preflight(ctx); err != nil {
			return leases, err
		}
		l, free, err := p.resume(ctx, t)
		if err != nil {
			return leases, err
		}
		if !free {
			break
		}
		if l != nil {
			leases = append(leases, l)
		}
	}
	return leases, nil
}

// postponed reports whether a turn waits. What is broken for all turns of an account or an agent is asked
// for in each pass, not at the turn's own time: see Accounts.RepoSkipped and Startable. A person who asks for a
// pass may have mended an error.
func postponed(p *env.Env, t work.Turn) bool {
	why := t.WaitReason.Or(work.Reason{Kind: work.WhyTriedAgain}).Kind
	if p.AtOnce && why.AfterError() {
		return false
	}
	return t.Waits(p.Now()) && why != work.WhyLoginUnknown && !why.OfAgent()
}

// resumable reports whether a turn can be resumed now.
func (p *Pass) resumable(ctx context.Context, t work.Turn) bool {
	r := p.RemoteByID(t.RepoID)
	if r == nil || !p.Selected(r) || t.Blocked || postponed(p.Env, t) {
		return false
	}
	return !p.InFlight(t) && (t.Step != work.StepClaimed || p.Startable(ctx, t.RepoID, t.Kind, t.Reviewer))
}

// onlyElsewhere reports whether only another machine can push the turn's commit.
func (p *Pass) onlyElsewhere(ctx context.Context, t work.Turn) (yes bool, err error) {
	if t.Step != work.StepAnswered || !p.Store.Shared() {
		return false, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		only, err := tx.OnlyOn(ctx, t.ID)
		yes = only != "" && only != tx.Machine()
		return err
	})
	return yes, err
}

// endOrphans ends processes that the killed pass of a turn left running.
func (p *Pass) endOrphans(ctx context.Context, t work.Turn) {
	_, err := p.Orphans.EndMarked(ctx, p.Mark(t))
	if err == nil {
		return
	}
	var item work.Item
	_ = p.Store.View(ctx, func(tx *store.Tx) (err error) { item, err = tx.GetItem(ctx, t.ItemID); return err })
	p.Log.WarnContext(ctx, "could not look for processes of a killed pass", append(env.AttrsOf(p.RemoteByID(t.RepoID).Name, item, t), "error", err)...)
}

// resume takes a slot for an unfinished turn, and takes the turn over. free is false without a free
// slot. The lease is nil if another pass took the turn first.
func (p *Pass) resume(ctx context.Context, t work.Turn) (l *env.Lease, free bool, err error) {
	if t.Step == work.StepClaimed && t.Runs > 0 { // its pass may have died while the agent ran
		p.endOrphans(ctx, t)
	}
	s, err := p.freeSlot(t.Slot)
	if err != nil || s == nil {
		return nil, false, err
	}
	if ok, err := p.TryTurn(ctx, t, s); err != nil || !ok {
		s.Release()
		return nil, true, err
	}
	l = &env.Lease{Slot: s, Repo: p.RemoteByID(t.RepoID), Resumed: true}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if l.Turn, err = tx.TakeTurn(ctx, t); err != nil {
			return err
		}
		l.Turn.Slot = s.K
		if l.Item, err = tx.GetItem(ctx, t.ItemID); err != nil {
			return err
		}
		if l.Events, err = env.TurnEvents(ctx, tx, t); err != nil {
			return err
		}
		return tx.SaveTurn(ctx, l.Turn)
	})
	if err == nil {
		err = s.Announce(p.holderOf(l))
	}
	if err != nil {
		s.Release()
		if errors.Is(err, store.ErrTaken) {
			return nil, true, nil
		}
		return nil, false, fmt.Errorf("resume turn %s: %w", t.Key, err)
	}
	p.Held[s.K] = p.holderOf(l)
	p.Changed(l, "resumed", string(l.Turn.Step))
	return l, true, nil
}

// freeSlot takes a free slot, preferably prefer; nil: none is free.
func (p *Pass) freeSlot(prefer int) (*folder.Slot, error) {
	order := []int{}
	if prefer >= 0 && prefer < p.Config.Runtime.Workers {
		order = append(order, prefer)
	}
	for k := range p.Config.Runtime.Workers {
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	for _, k := range order {
		if _, busy := p.Held[k]; busy {
			continue
		}
		s, ok, err := p.Dirs.TakeSlot(k)
		if err != nil {
			return nil, err
		}
		if ok {
			return s, nil
		}
	}
	return nil, nil
}
