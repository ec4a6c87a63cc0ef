package actions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// awaitMergedState waits for SettleAfter, as after an unclear answer, for GitHub to close the pull
// request that it has merged. Then a person must act. The merge is never sent again.
func (r *Runner) awaitMergedState(ctx context.Context, a work.Action, why error) (work.Action, error) {
	half, _ := errors.AsType[*HalfMergedError](why)
	now := r.Now()
	switch {
	case a.NotBefore.IsZero(): // seen for the first time
		a.NotBefore = now.Add(r.SettleAfter)
		if err := r.postpone(ctx, a, a.NotBefore, why); err != nil {
			return a, err
		}
	case !a.NotBefore.After(now):
		return a, &work.BlockedError{Reason: work.Reason{Kind: work.WhyMergeHalf, Number: a.Number, Commit: half.Commit, Branch: half.Branch}, Err: why}
	}
	return a, &work.WaitError{Until: a.NotBefore, Reason: work.Reason{Kind: work.WhyMergeUnclear, Number: a.Number}, Err: why}
}

// Waits returns what an action waits for after a refusal that may pass by itself.
func (e *RefusedError) Waits() work.Reason {
	switch e.Kind { //nolint:exhaustive // the others pass by themselves, or are stops
	case github.CheckMissing, github.ReviewNeeded, github.RuleBroken, github.AboutQueue:
		return work.Reason{Kind: work.WhyMergeBlocked, Names: []string{e.Text}, Text: e.Text}
	}
	return work.Reason{Kind: work.WhyMergeLater, Text: e.Text}
}

// How long to wait after a refusal: half the time since the plan, within these limits.
const (
	refusedAtLeast = time.Minute
	refusedAtMost  = time.Hour
)

// recordRefusal records that GitHub refused the action and nothing happened. It counts as never
// sent, and may be sent again if it is planned again.
func (r *Runner) recordRefusal(ctx context.Context, a work.Action, why *RefusedError) (work.Action, error) {
	ctx = context.WithoutCancel(ctx)
	now := r.Now()
	a.NotBefore = now.Add(min(max(now.Sub(a.PlannedAt)/2, refusedAtLeast), refusedAtMost))
	err := r.update(ctx, a, func(tx *store.Tx) error {
		if err := tx.MarkUnsent(ctx, a.ID); err != nil {
			return err
		}
		return tx.RefuseAction(ctx, a.ID, a.NotBefore, why.Waits())
	})
	a.State, a.Sends = work.ActionPlanned, 0
	return a, errors.Join(fmt.Errorf("send %s: %w", describe(a), why), err)
}
