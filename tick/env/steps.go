package env

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// SaveTurn stores the turn's row.
func (p *Env) SaveTurn(ctx context.Context, l *Lease) error {
	l.Turn.UpdatedAt = p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SaveTurn(ctx, l.Turn) })
	if err != nil {
		return fmt.Errorf("save turn %s: %w", l.Turn.Key, err)
	}
	return nil
}

// Advance stores that the turn has reached a step.
func (p *Env) Advance(ctx context.Context, l *Lease, to work.Step) error {
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AdvanceTurn(ctx, l.Turn.ID, l.Turn.Step, to, p.Now()) })
	if err != nil {
		return fmt.Errorf("advance turn %s: %w", l.Turn.Key, err)
	}
	l.Turn.Step = to
	return nil
}

// FirstEffect reports whether an effect of the turn may be on GitHub.
func (p *Env) FirstEffect(ctx context.Context, l *Lease) (bool, error) {
	var all []work.Action
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		var err error
		all, err = tx.ListTurnActions(ctx, l.Turn.ID)
		return err
	})
	if err != nil {
		return false, errors.Join(errors.New("read the turn's actions"), err)
	}
	return l.Turn.Begun(all), nil
}

// TurnActions returns the turn's actions in the order in which they are applied.
func (p *Env) TurnActions(ctx context.Context, l *Lease) (planned []work.Action, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		planned, err = tx.ListTurnActions(ctx, l.Turn.ID)
		return err
	})
	return planned, err
}

// ItemPull returns the newest pull request of the turn's item.
func (p *Env) ItemPull(ctx context.Context, l *Lease) (pull work.PullRequest, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var ok bool
		if pull, ok, err = tx.FindPullOfItem(ctx, l.Item.ID); err == nil && !ok {
			err = fmt.Errorf("work item %d has no pull request", l.Item.ID)
		}
		return err
	})
	return pull, err
}

// StoreAnswered stores the row of a turn whose answer is in the journal, with its planned actions.
func (p *Env) StoreAnswered(ctx context.Context, l *Lease, planned []work.Action) error {
	now := p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.Turn); err != nil {
			return err
		}
		if err := tx.RefundAttempt(ctx, l.Turn.ID); err != nil { // it answered, so the attempt does not count
			return err
		}
		for _, a := range planned {
			a.PlannedAt = now
			if _, err := tx.AddAction(ctx, a); err != nil {
				return err
			}
		}
		return tx.AdvanceTurn(ctx, l.Turn.ID, work.StepClaimed, work.StepAnswered, now)
	})
	if err != nil {
		return fmt.Errorf("store the answer: %w", err)
	}
	l.Turn.Step, l.Turn.Attempts, l.Attempted = work.StepAnswered, max(l.Turn.Attempts-1, 0), false
	return nil
}

// InFlight reports whether a held slot names the turn.
func (p *Env) InFlight(key string) bool {
	for _, h := range p.Held {
		if h.Turn == key {
			return true
		}
	}
	return false
}

// Mark returns the environment entry that every process of a turn's agent carries. It contains a
// hash of the state folder, because two state folders on one machine may know the same turn.
func (p *Env) Mark(t work.Turn) string {
	return "MERGEXO_MARK=" + work.ContentHash(p.Dirs.State) + "-" + t.Key
}
