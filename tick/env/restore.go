package env

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

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

// FirstEffect reports whether anything of the turn may be on GitHub already.
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
	return Begun(l.Turn, all), nil
}
