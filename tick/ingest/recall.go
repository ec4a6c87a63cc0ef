package ingest

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// recallStop takes up a comment of ours that says that an item is blocked, made
// by a pass whose database is gone, or shown by GitHub only now. With it on record the same stop is the same
// comment, and it is not left saying so once the item resumes.
func (h *reading) recallStop(ctx context.Context, tx *store.Tx, e work.Event) error {
	if e.Outcome != work.OutcomeOwn || e.ItemID == 0 {
		return nil
	}
	marks, _ := work.ParseMarks(e.Body)
	stop, ok := work.ParseStop(marks.Stop, e.Number)
	if !ok {
		return nil
	}
	said, known, err := tx.GetAction(ctx, marks.Token)
	switch {
	case err != nil:
		return err
	case known && said.Kind == work.ActionSticky && said.State == work.ActionVoid && said.ResultID == "":
		return tx.RenewAction(ctx, said) // it appeared after it was given up as never made
	case known:
		return nil
	}
	_, err = tx.AddAction(ctx, work.Action{
		RepoID: e.RepoID, ItemID: e.ItemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: marks.Token, State: work.ActionApplied,
		Number: e.Number, Body: e.Body, Why: "blocked", PlannedAt: e.CreatedAt, SeenAt: e.SeenAt, ResultID: e.Source, ResultURL: e.URL,
	})
	if err != nil {
		return err
	}
	stop.ItemID, stop.Token = e.ItemID, marks.Token
	if err := tx.PutStop(ctx, stop); err != nil {
		return err
	}
	if err := recallMerge(ctx, tx, e, stop); err != nil {
		return err
	}
	return recallReviews(ctx, tx, e, stop, marks)
}

// recallMerge has a head not be merged, or queued, that an attempt stopped: no look at
// GitHub tells.
func recallMerge(ctx context.Context, tx *store.Tx, e work.Event, stop work.Stop) error {
	if !merging.Stays(stop.Reason.Kind) || stop.Reason.Head == "" {
		return nil
	}
	pull, ok, err := tx.GetPull(ctx, e.RepoID, e.Number)
	if err != nil || !ok || pull.HeadOID != stop.Reason.Head {
		return err
	}
	return tx.SetMergeTrouble(ctx, pull.ID, pull.HeadOID, stop.Reason)
}

// recallReviews has reviews stay stopped that were, unless people had them begin again
// since. Nothing else on GitHub says that one failed for good, nor that people have it
// whatever was pushed since.
func recallReviews(ctx context.Context, tx *store.Tx, e work.Event, stop work.Stop, marks work.Marks) error {
	state, ok := review.StateOf(stop.Reason)
	if !ok {
		return nil
	}
	pull, ok, err := tx.GetPull(ctx, e.RepoID, e.Number)
	if err != nil || !ok {
		return err
	}
	stored, err := tx.GetReviews(ctx, pull.ID)
	epoch, _ := strconv.Atoi(marks.Epoch) // without a mark they never began again
	if err != nil || stored.Record.State != "" || epoch < stored.Record.Epoch {
		return err
	}
	now := stored.Record // of no head: the plan has GitHub show it
	now.PullID, now.State, now.Since, now.Reviewer, now.Why, now.Epoch = pull.ID, state, stop.Since, stop.Reason.Name, stop.Reason, epoch
	return tx.PutReviewState(ctx, stored.Record, now)
}
