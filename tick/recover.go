package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// recover resumes the turns that no living pass works on: those of a dead one,
// and those that waited and need wait no longer. A turn's pass lives as long as
// the lock of a slot that names the turn is held; nothing else counts.
func (p *Pass) recover(ctx context.Context) ([]*lease, error) {
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	held, err := p.Dirs.heldSlots()
	if err != nil {
		return nil, err
	}
	p.held = held
	if err := p.turns.runner.endDeadRuns(ctx); err != nil {
		return nil, err
	}
	var unfinished []work.Turn
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		unfinished, err = tx.ListUnfinishedTurns(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	var leases []*lease
	for _, t := range unfinished {
		if !p.resumable(ctx, t) {
			continue
		}
		if err := p.Preflight(ctx); err != nil {
			return leases, err
		}
		l, err := p.resume(ctx, t)
		if err != nil {
			return leases, err
		}
		if l == nil {
			break // every slot is taken
		}
		leases = append(leases, l)
	}
	return leases, nil
}

// resumable reports whether a turn can be carried on now.
func (p *Pass) resumable(ctx context.Context, t work.Turn) bool {
	r := p.remoteByID(t.RepoID)
	if r == nil || !p.selected(r) || t.Blocked || t.Waits(p.Now()) {
		return false
	}
	return !p.inFlight(t.Key) && (t.Step != work.StepClaimed || p.startable(ctx, t.RepoID, t.Kind))
}

// inFlight reports whether a held slot names the turn.
func (p *Env) inFlight(key string) bool {
	for _, h := range p.held {
		if h.Turn == key {
			return true
		}
	}
	return false
}

// endOrphans ends what a turn's dead pass left running.
func (p *Pass) endOrphans(ctx context.Context, t work.Turn) {
	_, err := p.Orphans.EndMarked(ctx, p.mark(t))
	if err == nil {
		return
	}
	var item work.Item
	_ = p.Store.View(ctx, func(tx *store.Tx) (err error) { item, err = tx.GetItem(ctx, t.ItemID); return err })
	p.Log.WarnContext(ctx, "could not look for what a dead pass left running", append(attrsOf(p.remoteByID(t.RepoID).Name, item, t), "error", err)...)
}

// resume takes a slot for a turn that was left unfinished.
func (p *Pass) resume(ctx context.Context, t work.Turn) (*lease, error) {
	if t.Step == work.StepClaimed && t.Runs > 0 { // its pass may have died with an agent running
		p.endOrphans(ctx, t)
	}
	s, err := p.freeSlot(t.Slot)
	if err != nil || s == nil {
		return nil, err
	}
	l := &lease{turn: t, slot: s, remote: p.remoteByID(t.RepoID), resumed: true}
	l.turn.Slot = s.k
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if l.item, err = tx.GetItem(ctx, t.ItemID); err != nil {
			return err
		}
		if l.events, err = turnEvents(ctx, tx, t); err != nil {
			return err
		}
		return tx.SaveTurn(ctx, l.turn)
	})
	if err == nil {
		err = s.announce(p.holderOf(l))
	}
	if err != nil {
		s.release()
		return nil, fmt.Errorf("resume turn %s: %w", t.Key, err)
	}
	p.held[s.k] = p.holderOf(l)
	p.changed(l, "resumed", string(t.Step))
	return l, nil
}

// commitLost takes a turn back to where its agent has not answered: the mirror
// was deleted or damaged, and the commit with it. A push that was sent may have
// arrived, so it is looked for first, and given time. Should it arrive later
// still, the lease lets one of the two through, and the trailer tells whose.
func (p *Turns) commitLost(ctx context.Context, l *lease, push work.Action) error {
	lost := fmt.Sprintf("the commit %s is gone from the mirror", work.Short(l.turn.Commit))
	now := p.Now()
	if push.Sends > 0 {
		seen, err := p.effects().Look(ctx, p.scope(l.remote), push)
		if err != nil || seen {
			return err
		}
		if until := push.SentAt.Add(p.Config.Runtime.SettleAfter); until.After(now) {
			return &work.WaitError{Until: until, Reason: lost + ", and it is unclear whether it was pushed"}
		}
	}
	l.turn.Commit, l.turn.Answer = "", nil
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.turn); err != nil {
			return err
		}
		if err := tx.MarkUnsent(ctx, push.ID); err != nil {
			return err
		}
		if err := tx.VoidTurnActions(ctx, l.turn.ID, lost, now); err != nil {
			return err
		}
		return tx.AdvanceTurn(ctx, l.turn.ID, work.StepAnswered, work.StepClaimed, now)
	})
	if err != nil {
		return fmt.Errorf("take turn %s back: %w", l.turn.Key, err)
	}
	l.turn.Step = work.StepClaimed
	return &work.WaitError{Until: now, Reason: lost + "; the agent works again"}
}

// freeSlot takes a free slot, the preferred one if possible; nil when every
// slot is taken.
func (p *Pass) freeSlot(prefer int) (*slot, error) {
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
		if _, busy := p.held[k]; busy {
			continue
		}
		s, ok, err := p.Dirs.takeSlot(k)
		if err != nil {
			return nil, err
		}
		if ok {
			return s, nil
		}
	}
	return nil, nil
}

// mark is what every process of a turn's agent carries in its environment, and
// no other process on this machine: two state folders may know the same turn.
func (p *Env) mark(t work.Turn) string {
	return "MERGEXO_MARK=" + work.ContentHash(p.Dirs.State) + "-" + t.Key
}
