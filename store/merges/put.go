package merges

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// PutMerge stores a merge by its pull request and head: what is meant, how far it has come,
// and the commit of one that is half done. Of one that has landed, or that is half done and
// would be meant once more, it is ErrStale: nothing is merged twice. One that is half done
// becomes void where the base lost its commit, or it is over. LandMerge alone stores that
// one has landed.
func (t Rows) PutMerge(ctx context.Context, m merging.Merge) (int64, error) {
	what := fmt.Sprintf("put the merge of %s in #%d", m.Head, m.Number)
	if m.Stage == merging.Landed {
		return 0, fmt.Errorf("%s: that it has landed is for LandMerge to store", what)
	}
	known, ok, err := t.FindMerge(ctx, m.PullID, m.Head)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	if m.At.IsZero() {
		m.At = t.tx.Now
	}
	if ok {
		err = t.tx.One(ctx, what, rows.ErrStale,
			`UPDATE merges SET stage = ?2, base = ?3, base_oid = ?4, tree = ?5, method = ?6, commit_oid = ?7, at = ?8
			 WHERE id = ?1 AND stage <> 'landed' AND (stage <> 'half' OR ?2 IN ('half', 'void'))`,
			known.ID, m.Stage, m.Base, m.BaseOID, m.Tree, m.Method, m.Commit, rows.TimeOf(&m.At))
	} else {
		fresh := m // nothing of what landed comes this way
		fresh.Parent, fresh.Landed, fresh.LandedAt, fresh.WatchUntil, fresh.Red, fresh.Differs = "", "", time.Time{}, time.Time{}, nil, ""
		known.ID, err = t.tx.Insert(ctx, what, "merges", mergeColumns, mergeFields(&fresh))
	}
	if err == nil && known.Stage != m.Stage {
		err = t.look(ctx, m.PullID)
	}
	return known.ID, err
}

// LandMerge stores what landed of a merge, by its id: Commit, Parent, Landed, Differs,
// LandedAt and WatchUntil. Where it is not what was meant, as with the one that landed
// before it in the repository, merging stops there for a reason, and it tells so. Of one
// that has landed before it is ErrStale.
func (t Rows) LandMerge(ctx context.Context, m merging.Merge, halt work.Reason) (halted bool, err error) {
	what := fmt.Sprintf("land merge %d", m.ID)
	known, err := rows.Get(ctx, t.tx, what, scanMerge, selectMerge+`WHERE id = ?`, m.ID)
	if err != nil {
		return false, err
	}
	err = t.tx.One(ctx, what, rows.ErrStale,
		`UPDATE merges SET stage = 'landed', commit_oid = ?, parent_oid = ?, landed_tree = ?, differs = ?, landed_at = ?, watch_until = ?
		 WHERE id = ? AND stage <> 'landed'`,
		m.Commit, m.Parent, m.Landed, t.tx.Clean(m.Differs), t.tx.Stamp(m.LandedAt), rows.TimeOf(&m.WatchUntil), m.ID)
	if err == nil {
		halted, err = t.count(ctx, known.RepoID, m.Differs != "", halt)
	}
	if err == nil {
		err = t.look(ctx, known.PullID)
	}
	return halted, err
}

// SetMergeRed stores which checks of the base turned red after a merge, and tells whether
// that is new: the first ones stay, and nobody looks at the base for this merge any more.
func (t Rows) SetMergeRed(ctx context.Context, id int64, red []string) (bool, error) {
	clean := make([]string, len(red))
	for i, name := range red {
		clean[i] = t.tx.Clean(name)
	}
	n, err := t.tx.Exec(ctx, fmt.Sprintf("store what is red after merge %d", id), `UPDATE merges SET red = ? WHERE id = ? AND stage = 'landed' AND red = '[]'`, rows.ListOf(&clean), id)
	return n == 1, err
}
