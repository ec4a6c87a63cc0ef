package tick

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// storeMerges stores what the plan decided about merging, and what people said of it.
func storeMerges(ctx context.Context, tx *store.Tx, plan plan.Plan, now time.Time) error {
	for _, w := range plan.Words {
		if _, err := tx.AddMergeWord(ctx, w); err != nil {
			return err
		}
	}
	for _, pull := range plan.Retried {
		if err := tx.SetMergeTrouble(ctx, pull, "", work.Reason{}); err != nil {
			return err
		}
	}
	for _, id := range plan.AtOnce {
		if err := tx.HastenAction(ctx, id); err != nil {
			return err
		}
	}
	for _, m := range plan.Merges {
		a := m.Action
		a.PlannedAt = now
		if err := planMerge(ctx, tx, a); err != nil {
			return fmt.Errorf("plan the %s of #%d: %w", a.Kind, m.Number, err)
		}
	}
	return nil
}

// chosenOf are the actions of merging that plans chose, by repository.
func chosenOf(plans []plan.Plan) map[int64][]string {
	chosen := map[int64][]string{}
	for _, one := range plans {
		for _, m := range one.Merges {
			chosen[one.Repo.ID] = append(chosen[one.Repo.ID], m.Action.Token)
		}
	}
	return chosen
}

// planMerge plans a merge. A head that fell out of a merge queue is queued again where a
// person says so, and only then does the plan choose it again. One that lacked nothing of
// its base may lack something by now.
func planMerge(ctx context.Context, tx *store.Tx, a work.Action) error {
	known, err := tx.PlanMerging(ctx, a)
	again := a.Kind == work.ActionEnqueue || a.Kind == work.ActionUpdateBranch
	if err != nil || !again || known.State != work.ActionApplied {
		return err
	}
	return tx.RepeatAction(ctx, a)
}
