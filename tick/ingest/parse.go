package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// recallStop takes up a comment of ours that says that an item is blocked, made
// by a pass whose database is gone, or shown by GitHub only now. With it on record the same stop is the same
// comment, and it is not left saying so once the item resumes.
func (h *Rebuild) recallStop(ctx context.Context, tx *store.Tx, e work.Event) error {
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
	return tx.PutStop(ctx, stop)
}
