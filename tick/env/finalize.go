package env

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

func (p *Env) TurnActions(ctx context.Context, l *Lease) (planned []work.Action, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		planned, err = tx.ListTurnActions(ctx, l.Turn.ID)
		return err
	})
	return planned, err
}

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
