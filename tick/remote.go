package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// begin loads, once per pass, the rows of the configured repositories, clocks, limits and our
// accounts.
func (p *Pass) begin(ctx context.Context) error {
	var clocks map[string]time.Duration
	var limits []work.Limit
	var gone []work.RepoName
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := p.OpenRepos(ctx, tx); err != nil {
			return err
		}
		if err := p.turns.ReconcileFollowups(ctx, tx); err != nil {
			return fmt.Errorf("look at what is blocked: %w", err)
		}
		if clocks, err = tx.ListClocks(ctx); err != nil {
			return err
		}
		if limits, err = tx.ListLimits(ctx); err != nil {
			return err
		}
		if err := p.LoadAccounts(ctx, tx); err != nil {
			return err
		}
		gone, err = p.OpenRemovedRepos(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	p.AssumeClocks(clocks)
	p.HoldLimits(ctx, limits)
	for _, name := range gone {
		p.Log.InfoContext(ctx, "a repository is not in the config any more", "repo_full_name", name.FullName())
	}
	return nil
}
