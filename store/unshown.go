package store

import (
	"context"
	"fmt"
	"time"
)

// ShowLater has an action that was given up tried again. until says when, after it was
// given up so many times; zero: never.
func (t actionRows) ShowLater(ctx context.Context, id int64, until func(dropped int) time.Time) error {
	what := fmt.Sprintf("show action %d later", id)
	n, err := get(ctx, t.transaction, what, scanCount, `SELECT dropped + 1 FROM actions WHERE id = ?`, id)
	if err != nil {
		return err
	}
	return t.one(ctx, what, ErrStale,
		`UPDATE actions SET dropped = ?, not_before = ? WHERE id = ? AND state = 'dropped'`, n, millis(until(n)), id)
}

// ListUnshown gives the ids of a repository's actions that were given up, and whose
// time has come again.
func (t actionRows) ListUnshown(ctx context.Context, repoID int64, now time.Time) ([]int64, error) {
	return list(ctx, t.transaction, "list what was not shown", scanID,
		`SELECT id FROM actions WHERE repo_id = ? AND state = 'dropped' AND not_before > 0 AND not_before <= ?`, repoID, millis(now))
}

// ShowAgain plans an action again that was given up.
func (t actionRows) ShowAgain(ctx context.Context, id int64) error {
	return t.one(ctx, fmt.Sprintf("show action %d again", id), ErrStale,
		`UPDATE actions SET state = 'planned', sends = 0, settled_at = 0, not_before = 0, renewals = renewals + 1 WHERE id = ? AND state = 'dropped'`, id)
}
