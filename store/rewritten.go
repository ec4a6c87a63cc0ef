package store

import (
	"context"
	"fmt"
)

// SetLost records which commit a pull request's branch lacks since somebody
// rewrote it; "" when its history is whole. What was accepted before counts no
// more.
func (t pullRows) SetLost(ctx context.Context, pullID int64, oid string) error {
	return t.one(ctx, fmt.Sprintf("record what the branch of pull request %d lost", pullID), ErrNotFound,
		`UPDATE pull_requests SET lost_oid = ?, accepted_oid = '' WHERE id = ?`, oid, pullID)
}

// AcceptHead records that the work resumes from a head of a rewritten branch. It
// is ErrStale when the branch is not known to be rewritten.
func (t pullRows) AcceptHead(ctx context.Context, pullID int64, oid string) error {
	return t.one(ctx, fmt.Sprintf("accept head %s of pull request %d", oid, pullID), ErrStale,
		`UPDATE pull_requests SET accepted_oid = ? WHERE id = ? AND lost_oid <> ''`, oid, pullID)
}

// ListRewritten gives the work items whose open pull requests wait, rewritten,
// for a person's word.
func (t pullRows) ListRewritten(ctx context.Context, repoID int64) ([]int64, error) {
	return list(ctx, t.transaction, "list rewritten pull requests", scanID,
		`SELECT item_id FROM pull_requests WHERE repo_id = ? AND state = 'open' AND lost_oid <> '' AND accepted_oid = '' AND item_id IS NOT NULL`, repoID)
}
