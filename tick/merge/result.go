package merge

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// recordResult stores the result of an action, as GitHub shows it or as err reports it.
func (o round) recordResult(ctx context.Context, j *job, err error) error {
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		o.log.InfoContext(ctx, "a merge waits", o.attrs(ctx, j.a, "until", wait.Until, "error", err)...)
		o.waits(ctx, j, wait.Reason)
		return nil
	}
	if half, ok := errors.AsType[*actions.HalfMergedError](err); ok {
		return o.recordHalfMerge(ctx, j, half)
	}
	if refused, ok := errors.AsType[*actions.RefusedError](err); ok {
		return o.recordRefusal(ctx, j, refused)
	}
	switch {
	case err != nil:
		return err
	case j.a.Kind == work.ActionDequeue && j.a.State == work.ActionApplied:
		return recordDequeue(ctx, o, j)
	case j.a.State == work.ActionVoid:
		o.log.InfoContext(ctx, "a merge is void", o.attrs(ctx, j.a, "head", j.a.Head)...)
		return o.storeStage(ctx, j, merging.Void)
	case j.a.State != work.ActionApplied:
		return nil
	case j.a.Kind == work.ActionEnqueue:
		o.report(j, env.MergeQueued, work.Reason{})
		return o.storeStage(ctx, j, merging.Queued)
	case j.a.Kind == work.ActionUpdateBranch && j.a.Sends > 0: // an update that was never sent found nothing new on the base
		o.report(j, env.MergeUpdated, work.Reason{})
	}
	return nil // a merge that landed is handled by ends
}

// recordHalfMerge records a merge whose commit is on the base while GitHub shows the pull request
// as open. A person must act; the merge is never sent again.
func (o round) recordHalfMerge(ctx context.Context, j *job, half *actions.HalfMergedError) error {
	if j.gone() {
		return voidMoved(ctx, o, j)
	}
	j.row.Commit = half.Commit
	if err := o.storeStage(ctx, j, merging.Half); err != nil {
		return err
	}
	return o.recordTrouble(ctx, j, work.Reason{Kind: work.WhyMergeHalf, Commit: half.Commit, Branch: half.Branch})
}

// voidMoved ends a merge whose pull request was closed or has a new head.
func voidMoved(ctx context.Context, o round, j *job) error {
	if !j.a.State.Settled() {
		if _, err := o.effects().Void(ctx, j.a, "the pull request moved on"); err != nil {
			return err
		}
	}
	return o.storeStage(ctx, j, merging.Void)
}

// recordRefusal records a refusal of GitHub's: a person must act, or a later pass tries again.
func (o round) recordRefusal(ctx context.Context, j *job, e *actions.RefusedError) error {
	o.log.WarnContext(ctx, "GitHub refused a merge", o.attrs(ctx, j.a, "head", j.a.Head, "refusal", string(e.Kind), "text", e.Text)...)
	if err := o.storeStage(ctx, j, merging.Void); err != nil {
		return err
	}
	if j.a.Kind == work.ActionDequeue { // later passes ask again until it has landed
		o.waits(ctx, j, work.Reason{Kind: work.WhyMergeQueued})
		return nil
	}
	why := reasonOf(e.Refusal, j.a)
	if why.None() && isLasting(e.Refusal, j.a, o.now()) {
		why = work.Reason{Kind: work.WhyMergeRefused, Text: e.Text}
	}
	if !why.None() {
		return o.recordTrouble(ctx, j, why)
	}
	o.waits(ctx, j, e.Waits())
	return o.store.Update(ctx, func(tx *store.Tx) error { return tx.MarkReviewsChanged(ctx, j.pull.ID) })
}

// reasonOf returns why a person must act after a refusal; none: it may pass by itself.
func reasonOf(r github.Refusal, a work.Action) work.Reason {
	switch r.Kind {
	case github.MethodBarred:
		return work.Reason{Kind: work.WhyMergeMethod, Name: a.Target, Text: r.Text}
	case github.NoPermission:
		return work.Reason{Kind: work.WhyMergePermission, Text: r.Text}
	case github.OtherRefusal:
		return work.Reason{Kind: work.WhyMergeRefused, Text: r.Text}
	case github.HeadMoved, github.BaseModified, github.InProgress, github.CheckMissing, github.ReviewNeeded, github.RuleBroken, github.NotMergeable,
		github.IsDraft, github.AboutQueue, github.NothingNew:
	}
	return work.Reason{}
}

// refusedFor is how long after planning a person is asked about a refusal that GitHub repeats word
// for word. At that age the merge is requested once an hour.
const refusedFor = 3 * time.Hour

// isLasting reports whether a refusal by a rule has lasted too long to pass by itself.
func isLasting(r github.Refusal, a work.Action, now time.Time) bool {
	switch r.Kind { //nolint:exhaustive // the others are of a moment, or stops
	case github.CheckMissing, github.ReviewNeeded, github.RuleBroken, github.NotMergeable:
		return r.Text != "" && r.Text == a.LastError && now.Sub(a.PlannedAt) >= refusedFor
	}
	return false
}

// recordTrouble stores why a head is not merged, so that a person acts. It does nothing if the pull
// request has moved on from that head.
func (o round) recordTrouble(ctx context.Context, j *job, why work.Reason) error {
	if j.gone() {
		return nil
	}
	why.Number, why.Head = j.a.Number, j.a.Head
	o.log.WarnContext(ctx, "a merge is stopped", o.attrs(ctx, j.a, "head", j.a.Head, "why", string(why.Kind))...)
	o.report(j, env.MergeBlocked, why)
	return o.store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.SetMergeTrouble(ctx, j.pull.ID, j.a.Head, why) })
}
