package tick

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// storeObeyed stores what commands change apart from moves and notices.
func (p *Pass) storeObeyed(ctx context.Context, tx *store.Tx, plan plan.Plan, now time.Time) error {
	for _, e := range plan.Told {
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
	}
	for _, o := range plan.Obeyed {
		err := tx.AddHistory(ctx, work.History{
			RepoID: plan.Repo.ID, ItemID: o.Item, Number: o.Number, At: now, What: "command", Detail: o.Command.Named() + " by " + o.By,
		})
		if err != nil {
			return err
		}
	}
	for _, id := range plan.Cancelled {
		if err := callOff(ctx, tx, id, now); err != nil {
			return err
		}
	}
	for _, id := range plan.Reread {
		if err := tx.RereadPull(ctx, id); err != nil {
			return err
		}
	}
	for _, key := range plan.TakenUp {
		if err := tx.TakeUpAgain(ctx, plan.Repo.ID, key, work.OutcomeShelved, now); err != nil {
			return err
		}
	}
	return nil
}

// callOff ends a turn that no pass works on, as cancel ends one that a pass has:
// after its first effect what is left of it becomes void.
func callOff(ctx context.Context, tx *store.Tx, id int64, now time.Time) error {
	const why = "the work was cancelled"
	t, err := tx.GetTurn(ctx, id)
	if err != nil || t.Step.Ended() {
		return err
	}
	planned, err := tx.ListTurnActions(ctx, id)
	if err != nil {
		return err
	}
	end := work.StepCancelled
	if env.Begun(t, planned) {
		end = work.StepDone
	}
	if err := tx.VoidTurnActions(ctx, id, why, now); err != nil {
		return err
	}
	if err := tx.FinishTurnEvents(ctx, id, work.OutcomeVoid+why, now); err != nil {
		return err
	}
	return tx.EndTurn(ctx, id, t.Step, end, why, now)
}

// planNotice plans an action that belongs to no turn. What a command asks for
// again is to be so again, whatever was done before.
func planNotice(ctx context.Context, tx *store.Tx, a work.Action) error {
	switch a.Kind {
	case work.ActionLabels, work.ActionFlow:
		return tx.RepeatAction(ctx, a)
	case work.ActionStatus:
		return tx.RenewAction(ctx, a)
	case work.ActionReview, work.ActionDismiss, work.ActionReviewRequest:
	case work.ActionMerge, work.ActionEnqueue, work.ActionDequeue, work.ActionUpdateBranch, work.ActionDeleteBranch, work.ActionRevert: // none is a notice
	case work.ActionPush, work.ActionPullRequest, work.ActionReply, work.ActionComment, work.ActionResolve, work.ActionReaction,
		work.ActionRemove, work.ActionIssue, work.ActionRerun, work.ActionClose, work.ActionSticky,
		work.ActionRepoLabels:
	}
	_, err := tx.AddAction(ctx, a)
	return err
}
