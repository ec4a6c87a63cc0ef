package snapshot

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// landedFor is how long after a merge it may need further actions.
const landedFor = 30 * 24 * time.Hour

// Busy returns the repositories in which there may be something to decide or to send. A pass does not
// look into the others. With them it reads what holds for all machines.
func (p *Loader) Busy(ctx context.Context, repos []*env.Repo) (busy store.BusySet, fleet store.Fleet, err error) {
	var landing store.BusySet
	var decided map[int64]store.Policies
	now := p.now()
	since := now.Add(-landedFor)
	err = p.store.View(ctx, func(tx *store.Tx) error {
		if busy, err = tx.ListBusy(ctx, now, since); err != nil {
			return err
		}
		if landing, err = tx.ListLanding(ctx, since); err != nil {
			return err
		}
		if decided, err = tx.ListPolicies(ctx); err != nil || !p.store.Shared() {
			return err
		}
		fleet, err = tx.GetFleet(ctx)
		return err
	})
	if err != nil {
		return nil, fleet, err
	}
	for _, r := range repos {
		again, err := p.decidesAgain(r, decided)
		if err != nil {
			return nil, fleet, err
		}
		if again || landing[r.Row.ID] && merges(r) || r.Settings.Draft == config.UntilGreen { // checks that are green become no event
			busy[r.Row.ID] = true
		}
	}
	return busy, fleet, nil
}

// decidesAgain reports whether the config for a repository's reviews changed since they were last
// decided.
func (p *Loader) decidesAgain(r *env.Repo, decided map[int64]store.Policies) (bool, error) {
	before, any := decided[r.Row.ID]
	if !any {
		return false, nil
	}
	name, err := policyName(r.Settings)
	return before.Low != name || before.High != name, err
}

// merges reports whether we merge pull requests in a repository.
func merges(r *env.Repo) bool {
	for _, f := range work.Flows() {
		if r.Settings.MergePolicy(f).Auto {
			return true
		}
	}
	return false
}
