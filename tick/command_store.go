package tick

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// fillCommands reads what carrying out the waiting commands depends on.
func fillCommands(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	v.Closings, v.Shelved = map[int64]work.Action{}, map[int64][]string{}
	v.Stops = map[int64]work.Stop{}
	for _, e := range v.Events {
		if e.Kind != work.EventCommand {
			continue
		}
		token := work.NoticeToken(v.Repo.Key(), e.Number, e.Key)
		a, ok, err := tx.GetAction(ctx, token)
		if err != nil {
			return err
		}
		if ok {
			v.Notices[token] = a.State
		}
		if pull, has := v.Pulls[e.ItemID]; has {
			a, ok, err := tx.GetAction(ctx, work.CloseToken(v.Repo.Key(), pull.Number, e.Key))
			if err != nil {
				return err
			}
			if ok {
				v.Closings[e.ID] = a
			}
		}
		if _, known := v.Stops[e.ItemID]; known || e.ItemID == 0 {
			continue
		}
		if err := fillCommanded(ctx, tx, v, e.ItemID); err != nil {
			return err
		}
	}
	return nil
}

// fillCommanded reads about an item what its commands depend on.
func fillCommanded(ctx context.Context, tx *store.Tx, v *plan.Snapshot, item int64) error {
	stop, _, err := tx.FindStop(ctx, item)
	if err != nil {
		return err
	}
	v.Stops[item] = stop
	if err := fillFollowed(ctx, tx, v, item); err != nil {
		return err
	}
	events, err := tx.ListItemEvents(ctx, item)
	for _, e := range events {
		if e.Outcome == work.OutcomeShelved && e.Source == v.Pulls[item].HeadOID {
			v.Shelved[item] = append(v.Shelved[item], e.Key)
		}
	}
	return err
}

// fillFollowed reads whether a later item has taken an item's issue over.
func fillFollowed(ctx context.Context, tx *store.Tx, v *plan.Snapshot, id int64) error {
	item, err := tx.GetItem(ctx, id)
	if err != nil {
		return err
	}
	newest, known, err := tx.FindItem(ctx, item.RepoID, item.Number)
	if err != nil || !known || newest.ID == item.ID || newest.Parent != item.ID {
		return err
	}
	next := plan.Followed{State: newest.State}
	if next.Pull, _, err = tx.FindPullOfItem(ctx, newest.ID); err != nil {
		return err
	}
	if v.Followed == nil {
		v.Followed = map[int64]plan.Followed{}
	}
	v.Followed[id] = next
	return nil
}

// storeObeyed stores what commands change apart from moves and notices.
func (p *Pass) storeObeyed(ctx context.Context, tx *store.Tx, plan plan.Plan, now time.Time) error {
	for _, e := range plan.Told {
		if _, err := tx.AddEvent(ctx, e); err != nil {
			return err
		}
	}
	for _, o := range plan.Obeyed {
		err := tx.AddHistory(ctx, store.History{
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
	if begun(t, planned) {
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
	case work.ActionPush, work.ActionPullRequest, work.ActionReply, work.ActionComment, work.ActionResolve, work.ActionReaction,
		work.ActionRemove, work.ActionIssue, work.ActionRerun, work.ActionClose, work.ActionSticky,
		work.ActionRepoLabels:
	}
	_, err := tx.AddAction(ctx, a)
	return err
}

// due reports whether what a command's answer tells of has come about, or was
// given up: then the answer may be sent.
func (p *Notices) due(ctx context.Context, a work.Action) (bool, error) {
	if a.Kind != work.ActionComment || a.Base == "" {
		return true, nil
	}
	settled := true
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		for token := range strings.FieldsSeq(a.Base) {
			first, known, err := tx.GetAction(ctx, token)
			if err != nil {
				return err
			}
			settled = settled && (!known || first.State.Settled())
		}
		return nil
	})
	return settled, err
}

// unobeyed reports whether a command on a turn's item waits to be carried out.
func unobeyed(ctx context.Context, tx *store.Tx, l *lease) (bool, error) {
	pending, err := tx.ListPendingEvents(ctx, l.item.RepoID)
	for _, e := range pending {
		if e.ItemID != l.item.ID || e.Kind != work.EventCommand || e.State == work.SaidLocally {
			continue
		}
		_, planned, err := tx.GetAction(ctx, work.NoticeToken(l.remote.repo.Key(), e.Number, e.Key))
		if err != nil || !planned {
			return !planned, err
		}
	}
	return false, err
}
