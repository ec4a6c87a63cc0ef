// Package merges is what is remembered of merging by our own request: what GitHub's merge
// box said, what people said, what was sent and what landed. internal/work/merging decides
// by it; nothing here does.
package merges

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the rows of merges, in one transaction.
type Rows struct {
	tx   *rows.Tx
	look func(ctx context.Context, pullID int64) error // has the work item of a pull request decided again
}

// In gives the rows as a transaction sees them.
func In(tx *rows.Tx, look func(ctx context.Context, pullID int64) error) Rows { return Rows{tx, look} }

const mergeColumns = `repo_id, pull_id, item_id, number, head, base, base_oid, tree, method, stage,
	commit_oid, parent_oid, landed_tree, at, landed_at, watch_until, red, differs`

func mergeFields(m *merging.Merge) []any {
	return []any{
		&m.RepoID, &m.PullID,
		rows.RefOf(&m.ItemID),
		&m.Number, &m.Head, &m.Base, &m.BaseOID, &m.Tree, &m.Method, &m.Stage, &m.Commit, &m.Parent, &m.Landed,
		rows.TimeOf(&m.At),
		rows.TimeOf(&m.LandedAt),
		rows.TimeOf(&m.WatchUntil),
		rows.ListOf(&m.Red),
		&m.Differs,
	}
}

func scanMerge(row rows.Row) (m merging.Merge, err error) {
	return m, row.Scan(append([]any{&m.ID}, mergeFields(&m)...)...)
}

const (
	selectMerge = `SELECT id, ` + mergeColumns + ` FROM merges `

	// unsettled are the stages after which something is still to come, word for word as the
	// index has them.
	unsettled = `stage IN ('intended', 'queued', 'half')`
)

// FindMerge gives our merge of a head.
func (t Rows) FindMerge(ctx context.Context, pullID int64, head string) (merging.Merge, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("find the merge of pull request %d", pullID), scanMerge, selectMerge+`WHERE pull_id = ? AND head = ?`, pullID, head)
}

// ListMerges gives the merges of a repository that were meant since a time, the newest
// first.
func (t Rows) ListMerges(ctx context.Context, repoID int64, since time.Time) ([]merging.Merge, error) {
	return rows.List(ctx, t.tx, "list merges", scanMerge, selectMerge+`WHERE repo_id = ? AND at >= ? ORDER BY at DESC, id DESC`, repoID, rows.Millis(since))
}

// ListUnsettledMerges gives the merges of a repository of which nobody has seen the end,
// the oldest first.
func (t Rows) ListUnsettledMerges(ctx context.Context, repoID int64) ([]merging.Merge, error) {
	return rows.List(ctx, t.tx, "list unsettled merges", scanMerge, selectMerge+`WHERE repo_id = ? AND `+unsettled+` ORDER BY id`, repoID)
}

// ListWatched gives the merges of a repository after which its base is still looked at, the
// one that landed first before others. After the first red check none is.
func (t Rows) ListWatched(ctx context.Context, repoID int64, now time.Time) ([]merging.Merge, error) {
	return rows.List(ctx, t.tx, "list watched merges", scanMerge,
		// watch_until > 0 lets SQLite use the index, which says so of itself.
		selectMerge+`WHERE repo_id = ? AND watch_until > ? AND watch_until > 0 AND red = '[]' ORDER BY landed_at, id`, repoID, rows.Millis(now))
}
