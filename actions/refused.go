package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// half waits for GitHub to close what it has merged, for as long as after a write whose
// answer never came; then a person has to act. It is never sent again.
func (r *Runner) half(ctx context.Context, a work.Action, why error) (work.Action, error) {
	half, _ := errors.AsType[*HalfError](why)
	now := r.Now()
	switch {
	case a.NotBefore.IsZero(): // seen first
		a.NotBefore = now.Add(r.SettleAfter)
		if err := r.postpone(ctx, a, a.NotBefore, why); err != nil {
			return a, err
		}
	case !a.NotBefore.After(now):
		return a, &work.BlockedError{Reason: work.Reason{Kind: work.WhyMergeHalf, Number: a.Number, Commit: half.Commit, Branch: half.Branch}, Err: why}
	}
	return a, &work.WaitError{Until: a.NotBefore, Reason: work.Reason{Kind: work.WhyMergeUnclear, Number: a.Number}, Err: why}
}

// How long what GitHub refused is left alone: longer the longer it was planned ago.
const (
	refusedAtLeast = time.Minute
	refusedAtMost  = time.Hour
)

// refused records that GitHub refused, and that nothing came of it: it counts as never
// sent, and may be sent again when whoever planned it plans it then.
func (r *Runner) refused(ctx context.Context, a work.Action, why *RefusedError) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	now := r.Now()
	a.NotBefore = now.Add(min(max(now.Sub(a.PlannedAt)/2, refusedAtLeast), refusedAtMost))
	err := r.update(ctx, a, func(tx *store.Tx) error {
		if err := tx.MarkUnsent(ctx, a.ID); err != nil {
			return err
		}
		return tx.DeferAction(ctx, a.ID, a.NotBefore, why.Text)
	})
	a.State, a.Sends = work.ActionPlanned, 0
	return a, errors.Join(fmt.Errorf("send %s: %w", describe(a), why), err)
}
