package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

const mergeColumns = `repo_id, pull_id, item_id, number, head, base, base_oid, tree, method, stage,
	commit_oid, parent_oid, landed_tree, at, landed_at, watch_until, red, differs`

func mergeFields(m *merging.Merge) []any {
	return []any{
		&m.RepoID, &m.PullID,
		refOf(&m.ItemID),
		&m.Number, &m.Head, &m.Base, &m.BaseOID, &m.Tree, &m.Method, &m.Stage, &m.Commit, &m.Parent, &m.Landed,
		timeOf(&m.At),
		timeOf(&m.LandedAt),
		timeOf(&m.WatchUntil),
		listOf(&m.Red),
		&m.Differs,
	}
}

func scanMerge(row scanner) (m merging.Merge, err error) {
	return m, row.Scan(append([]any{&m.ID}, mergeFields(&m)...)...)
}

const (
	selectMerge = `SELECT id, ` + mergeColumns + ` FROM merges `

	// unsettledMerge are the stages after which something is still to come, word for word as the
	// index has them.
	unsettledMerge = `stage IN ('intended', 'queued', 'half')`
)

// FindMerge gives our merge of a head.
func (t *Tx) FindMerge(ctx context.Context, pullID int64, head string) (merging.Merge, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find the merge of pull request %d", pullID), scanMerge, selectMerge+`WHERE pull_id = ? AND head = ?`, pullID, head)
}

// ListMerges gives the merges of a repository that were meant since a time, the newest
// first.
func (t *Tx) ListMerges(ctx context.Context, repoID int64, since time.Time) ([]merging.Merge, error) {
	return listRows(ctx, t, "list merges", scanMerge, selectMerge+`WHERE repo_id = ? AND at >= ? ORDER BY at DESC, id DESC`, repoID, millis(since))
}

// ListUnsettledMerges gives the merges of a repository of which nobody has seen the end,
// the oldest first.
func (t *Tx) ListUnsettledMerges(ctx context.Context, repoID int64) ([]merging.Merge, error) {
	return listRows(ctx, t, "list unsettled merges", scanMerge, selectMerge+`WHERE repo_id = ? AND `+unsettledMerge+` ORDER BY id`, repoID)
}

// ListWatched gives the merges of a repository after which its base is still looked at, the
// one that landed first before others. After the first red check none is.
func (t *Tx) ListWatched(ctx context.Context, repoID int64, now time.Time) ([]merging.Merge, error) {
	return listRows(ctx, t, "list watched merges", scanMerge,
		// watch_until > 0 lets SQLite use the index, which says so of itself.
		selectMerge+`WHERE repo_id = ? AND watch_until > ? AND watch_until > 0 AND red = '[]' ORDER BY landed_at, id`, repoID, millis(now))
}

// PutMerge stores a merge by its pull request and head: what is meant, how far it has come,
// and the commit of one that is half done. Of one that has landed, or that is half done and
// would be meant once more, it is ErrStale: nothing is merged twice. One that is half done
// becomes void where the base lost its commit, or it is over. LandMerge alone stores that
// one has landed.
func (t *Tx) PutMerge(ctx context.Context, m merging.Merge) (int64, error) {
	what := fmt.Sprintf("put the merge of %s in #%d", m.Head, m.Number)
	if m.Stage == merging.Landed {
		return 0, fmt.Errorf("%s: that it has landed is for LandMerge to store", what)
	}
	known, ok, err := t.FindMerge(ctx, m.PullID, m.Head)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if m.At.IsZero() {
		m.At = t.now
	}
	if ok {
		err = t.one(ctx, what, ErrStale,
			`UPDATE merges SET stage = ?2, base = ?3, base_oid = ?4, tree = ?5, method = ?6, commit_oid = ?7, at = ?8
			 WHERE id = ?1 AND stage <> 'landed' AND (stage <> 'half' OR ?2 IN ('half', 'void'))`,
			known.ID, m.Stage, m.Base, m.BaseOID, m.Tree, m.Method, m.Commit, timeOf(&m.At))
	} else {
		fresh := m // nothing of what landed comes this way
		fresh.Parent, fresh.Landed, fresh.LandedAt, fresh.WatchUntil, fresh.Red, fresh.Differs = "", "", time.Time{}, time.Time{}, nil, ""
		known.ID, err = t.insertNew(ctx, what, "merges", mergeColumns, mergeFields(&fresh), "pull_id, head")
	}
	if err == nil && known.Stage != m.Stage {
		err = t.SetLook(ctx, m.PullID)
	}
	return known.ID, err
}

// LandMerge stores what landed of a merge, by its id: Commit, Parent, Landed, Differs,
// LandedAt and WatchUntil. Where it is not what was meant, as with the one that landed
// before it in the repository, merging stops there for a reason, and it tells so. Of one
// that has landed before it is ErrStale.
func (t *Tx) LandMerge(ctx context.Context, m merging.Merge, halt work.Reason) (halted bool, err error) {
	what := fmt.Sprintf("land merge %d", m.ID)
	known, err := getRow(ctx, t, what, scanMerge, selectMerge+`WHERE id = ?`, m.ID)
	if err != nil {
		return false, err
	}
	err = t.one(ctx, what, ErrStale,
		`UPDATE merges SET stage = 'landed', commit_oid = ?, parent_oid = ?, landed_tree = ?, differs = ?, landed_at = ?, watch_until = ?
		 WHERE id = ? AND stage <> 'landed'`,
		m.Commit, m.Parent, m.Landed, t.clean(m.Differs), t.stamp(m.LandedAt), timeOf(&m.WatchUntil), m.ID)
	if err == nil {
		halted, err = t.countDiffering(ctx, known.RepoID, m.Differs != "", halt)
	}
	if err == nil {
		err = t.SetLook(ctx, known.PullID)
	}
	return halted, err
}

// SetMergeRed stores which checks of the base turned red after a merge, and tells whether
// that is new: the first ones stay, and nobody looks at the base for this merge any more.
func (t *Tx) SetMergeRed(ctx context.Context, id int64, red []string) (bool, error) {
	clean := make([]string, len(red))
	for i, name := range red {
		clean[i] = t.clean(name)
	}
	n, err := t.exec(ctx, fmt.Sprintf("store what is red after merge %d", id), `UPDATE merges SET red = ? WHERE id = ? AND stage = 'landed' AND red = '[]'`, listOf(&clean), id)
	return n == 1, err
}
