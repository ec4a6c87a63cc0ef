package snapshot

import (
	"context"

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
		if err := FillCommanded(ctx, tx, v, e.ItemID); err != nil {
			return err
		}
	}
	return nil
}

// FillCommanded reads about an item what its commands depend on.
func FillCommanded(ctx context.Context, tx *store.Tx, v *plan.Snapshot, item int64) error {
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
