package repos

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/store/rows"
)

// ListBacklog gives the numbers that lists showed and that were not taken in yet,
// those first that were tried longest ago.
func (t Rows) ListBacklog(ctx context.Context, repoID int64) ([]int, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list the backlog of repository %d", repoID), rows.ScanCount,
		`SELECT number FROM backlog WHERE repo_id = ? ORDER BY tried_at, number`, repoID)
}

// AddBacklog records that a number is to be taken in later, after those that were
// not tried since.
func (t Rows) AddBacklog(ctx context.Context, repoID int64, number int, tried time.Time) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("add #%d to the backlog", number),
		`INSERT INTO backlog (repo_id, number, tried_at) VALUES (?, ?, ?)
		 ON CONFLICT (repo_id, number) DO UPDATE SET tried_at = excluded.tried_at`, repoID, number, t.tx.Stamp(tried))
	return err
}

// DropBacklog records that a number was taken in.
func (t Rows) DropBacklog(ctx context.Context, repoID int64, number int) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM backlog WHERE repo_id = ? AND number = ?`, repoID, number)
	return err
}
