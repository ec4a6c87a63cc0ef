package ingest

import (
	"cmp"
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// restoreStop records the stop that one of our comments reports: the pass that made it lost its
// database, or GitHub shows the comment only now. With the row, the same stop reuses that comment,
// and the comment changes once the item resumes.
func (h *reading) restoreStop(ctx context.Context, tx *store.Tx, e work.Event) error {
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
		return tx.RenewAction(ctx, said) // GitHub shows it only after the action was given up as never applied
	case known:
		return nil
	}
	err = tx.PlanAction(ctx, work.Action{
		RepoID: e.RepoID, ItemID: e.ItemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: marks.Token, State: work.ActionApplied,
		Number: e.Number, Body: e.Body, Why: "why it stopped", PlannedAt: e.CreatedAt, SeenAt: e.SeenAt, ResultID: e.Source, ResultURL: e.URL,
	})
	if err != nil {
		return err
	}
	stop.ItemID, stop.Token = e.ItemID, marks.Token
	if stop.Reason.Kind.StopsRoadmap() { // the newest item may be one that changes the roadmap
		item, err := tx.GetItem(ctx, e.ItemID)
		if err != nil {
			return err
		}
		stop.ItemID = cmp.Or(item.Parent, item.ID)
	}
	if err := tx.PutStop(ctx, stop); err != nil {
		return err
	}
	pull, ok, err := tx.GetPull(ctx, e.RepoID, e.Number)
	if err != nil || !ok {
		return err
	}
	if merging.Stays(stop.Reason.Kind) && stop.Reason.Head != "" && pull.HeadOID == stop.Reason.Head { // it is not merged or queued again
		if err := tx.SetMergeTrouble(ctx, pull.ID, pull.HeadOID, stop.Reason); err != nil {
			return err
		}
	}
	// Reviews stay stopped unless people started them again since. Nothing else on GitHub shows that a review failed
	// for good, or that people took it over regardless of later pushes.
	state, ok := review.StateOf(stop.Reason)
	if !ok {
		return nil
	}
	stored, err := tx.GetReviews(ctx, pull.ID)
	epoch, _ := strconv.Atoi(marks.Epoch) // without a mark the reviews were never started again
	if err != nil || stored.Record.State != "" || epoch < stored.Record.Epoch {
		return err
	}
	now := stored.Record // it has no head, so that the plan shows the state on GitHub
	now.PullID, now.State, now.Since, now.Reviewer, now.Why, now.Epoch = pull.ID, state, stop.Since, stop.Reason.Name, stop.Reason, epoch
	return tx.PutReviewState(ctx, stored.Record, now)
}
