package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const (
	selectSpent = `SELECT id, kind, step, head, commit_oid, cost_usd, claimed_at FROM turns `

	// paid says that a turn's agent ran, or is going to.
	paid = `(runs > 0 OR ` + unfinished + `)`
)

func scanSpent(row scanner) (s work.Spent, err error) {
	return s, row.Scan(&s.Turn, &s.Kind, &s.Step, &s.Head, &s.Commit, &s.CostUSD, timeOf{&s.At})
}

// ListSpent gives what an item's turns after a given one have taken, oldest
// first. An item's budgets count those after its AllowanceFrom.
func (t *Tx) ListSpent(ctx context.Context, itemID, after int64) ([]work.Spent, error) {
	return list(ctx, t, fmt.Sprintf("list what item %d spent", itemID), scanSpent,
		selectSpent+`WHERE item_id = ? AND id > ? AND `+paid+` ORDER BY id`, itemID, after)
}

// ListSpentSince gives what the turns of all repositories that were claimed
// after a time have taken, oldest first.
func (t *Tx) ListSpentSince(ctx context.Context, since time.Time) ([]work.Spent, error) {
	return list(ctx, t, "list what was spent lately", scanSpent,
		selectSpent+`WHERE claimed_at > ? AND `+paid+` ORDER BY claimed_at`, millis(since))
}

// RenewAllowance lets an item's budgets count from its newest turn on: a person
// wants it to go on.
func (t *Tx) RenewAllowance(ctx context.Context, itemID int64) error {
	return t.one(ctx, fmt.Sprintf("renew the allowance of item %d", itemID), ErrNotFound,
		`UPDATE work_items SET allowance_from = (SELECT coalesce(max(u.id), 0) FROM turns u WHERE u.item_id = work_items.id), updated_at = ? WHERE id = ?`,
		millis(t.now), itemID)
}

// LastTurn gives the id of the newest turn of a kind in a repository; 0 when
// there is none.
func (t *Tx) LastTurn(ctx context.Context, repoID int64, kind work.Kind) (int64, error) {
	id, _, err := find(ctx, t, fmt.Sprintf("find the newest %s", kind), scanID,
		`SELECT id FROM turns WHERE repo_id = ? AND kind = ? ORDER BY id DESC LIMIT 1`, repoID, kind)
	return id, err
}

// ListTurnEvents gives the events that a turn has, or had when it ended.
func (t *Tx) ListTurnEvents(ctx context.Context, turnID int64) ([]work.Event, error) {
	return list(ctx, t, fmt.Sprintf("list events of turn %d", turnID), scanEvent, selectEvent+`WHERE turn_id = ? ORDER BY created_at, id`, turnID)
}
