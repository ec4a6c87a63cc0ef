package merge

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// recall has the database know that merging is stopped in a repository, where it was lost
// since: before anything is decided about.
func (m *Merging) recall(ctx context.Context, r *env.Repo) error {
	why, stopped := m.Dirs.MergingStopped(r.Row)
	if !stopped {
		return nil
	}
	return m.Store.Update(ctx, func(tx *store.Tx) error {
		if _, known, err := tx.MergingStopped(ctx, r.Row.ID); err != nil || known {
			return err
		}
		return tx.StopMerging(ctx, r.Row.ID, why)
	})
}

// Stopped is the error of a pass after which nothing is merged in a repository any more,
// told by one pass alone, that somebody sees; a line for each.
func (m *Merging) Stopped(ctx context.Context) error {
	if m.Unseen {
		return nil
	}
	var all []error
	for _, r := range m.Repositories() {
		halt, first, err := m.tellStopped(context.WithoutCancel(ctx), r)
		switch {
		case err != nil:
			all = append(all, err)
		case first:
			all = append(all, stoppedError(m.Config.Called(r.Name), halt))
		}
	}
	return errors.Join(all...)
}

func (m *Merging) tellStopped(ctx context.Context, r *env.Repo) (halt merging.Halt, first bool, err error) {
	var stopped bool
	err = m.Store.View(ctx, func(tx *store.Tx) (err error) {
		halt, stopped, err = tx.MergingStopped(ctx, r.Row.ID)
		return err
	})
	if err != nil || !stopped || halt.Told {
		return halt, false, err
	}
	err = m.Store.Update(ctx, func(tx *store.Tx) (err error) {
		first, err = tx.MergingTold(ctx, r.Row.ID)
		return err
	})
	return halt, first, err
}

func stoppedError(repo string, halt merging.Halt) error {
	w := explain.Reason(halt.Why, explain.Place{Repo: repo})
	return fmt.Errorf("nothing is merged in %s any more: %s; %s", repo, w.Here(), w.Next())
}
