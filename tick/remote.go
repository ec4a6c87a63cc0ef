package tick

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/store"
)

// begin loads, once per pass, the rows of the configured repositories, clocks, limits and our
// accounts.
func (p *Pass) begin(ctx context.Context) error {
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := p.OpenRepos(ctx, tx); err != nil {
			return err
		}
		if err := p.turns.ReconcileFollowups(ctx, tx); err != nil {
			return fmt.Errorf("look at what is blocked: %w", err)
		}
		if err := p.AssumeClocks(ctx, tx); err != nil {
			return err
		}
		if err := p.HoldLimits(ctx, tx); err != nil {
			return err
		}
		if err := p.LoadAccounts(ctx, tx); err != nil {
			return err
		}
		return p.OpenLeft(ctx, tx)
	})
}
