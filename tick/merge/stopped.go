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

// restoreHalts stores that merging is stopped wherever that is missing: in the database if it was
// lost, in the state folder if another machine stopped merging, or a pass that died before it wrote
// the file. A file about a stop that a person ended on another machine is deleted. It runs before any
// decision.
func (m *Merging) restoreHalts(ctx context.Context, r *env.Repo) error {
	file, kept := m.dirs.MergingStopped(r.Row)
	var halt merging.Halt
	var known, over bool
	err := m.store.Update(ctx, func(tx *store.Tx) (err error) {
		if halt, known, err = tx.MergingStopped(ctx, r.Row.ID); err != nil || known || !kept {
			return err
		}
		if over, err = tx.MergingResumed(ctx, r.Row.ID, file.At); err != nil || over {
			return err
		}
		return tx.StopMerging(ctx, r.Row.ID, file.Why)
	})
	switch {
	case err != nil:
		return err
	case over:
		return m.dirs.ResumeMerging(r.Row)
	case known && (!kept || file.At.Before(halt.At)):
		return m.dirs.StopMerging(r.Row, halt)
	}
	return nil
}

// Stopped returns an error line per repository in which merging has stopped. Each error line is
// returned once, by a pass whose output somebody sees.
func (m *Merging) Stopped(ctx context.Context) error {
	if m.unseen {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	var untold []int64
	err := m.store.View(ctx, func(tx *store.Tx) (err error) {
		untold, err = tx.ListUnreportedHalts(ctx)
		return err
	})
	all := []error{err}
	for _, id := range untold {
		r := m.remoteByID(id)
		if r == nil { // the config no longer names it
			continue
		}
		halt, first, err := m.markHaltReported(ctx, r)
		if all = append(all, err); err == nil && first {
			all = append(all, stoppedError(m.config.Called(r.Name), halt))
		}
	}
	return errors.Join(all...)
}

// markHaltReported stores that this pass reports the stop; first is false if an earlier pass did.
func (m *Merging) markHaltReported(ctx context.Context, r *env.Repo) (halt merging.Halt, first bool, err error) {
	err = m.store.Update(ctx, func(tx *store.Tx) error {
		var stopped bool
		if halt, stopped, err = tx.MergingStopped(ctx, r.Row.ID); err != nil || !stopped {
			return err
		}
		first, err = tx.MarkHaltReported(ctx, r.Row.ID)
		return err
	})
	return halt, first, err
}

func stoppedError(repo string, halt merging.Halt) error {
	w := explain.Reason(halt.Why, explain.Place{Repo: repo})
	return fmt.Errorf("nothing is merged in %s any more: %s; %s", repo, w.Here(), w.Next())
}
