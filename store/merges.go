package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

const mergeColumns = `repo_id, pull_id, item_id, number, head, base, base_oid, tree, method, stage,
	commit_oid, parent_oid, landed_tree, at, landed_at, differs`

func mergeFields(m *merging.Merge) []any {
	return []any{
		&m.RepoID, &m.PullID,
		refOf(&m.ItemID),
		&m.Number, &m.Head, &m.Base, &m.BaseOID, &m.Tree, &m.Method, &m.Stage, &m.Commit, &m.Parent, &m.Landed,
		timeOf(&m.At),
		timeOf(&m.LandedAt),
		&m.Differs,
	}
}

func scanMerge(row scanner) (m merging.Merge, err error) {
	return m, row.Scan(append([]any{&m.ID}, mergeFields(&m)...)...)
}

const (
	selectMerge = `SELECT id, ` + mergeColumns + ` FROM merges `

	// unsettledMerge matches the stages that are not final, exactly as in the index.
	unsettledMerge = `stage IN ('intended', 'queued', 'half')`
)

// FindMerge returns our merge of a head.
func (t *Tx) FindMerge(ctx context.Context, pullID int64, head string) (merging.Merge, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find the merge of pull request %d", pullID), scanMerge, selectMerge+`WHERE pull_id = ? AND head = ?`, pullID, head)
}

// ListMerges returns the merges of a repository that were planned since a time, newest first.
func (t *Tx) ListMerges(ctx context.Context, repoID int64, since time.Time) ([]merging.Merge, error) {
	return listRows(ctx, t, "list merges", scanMerge, selectMerge+`WHERE repo_id = ? AND at >= ? ORDER BY at DESC, id DESC`, repoID, millis(since))
}

// ListUnsettledMerges returns the merges of a repository whose result is not known, oldest first.
func (t *Tx) ListUnsettledMerges(ctx context.Context, repoID int64) ([]merging.Merge, error) {
	return listRows(ctx, t, "list unsettled merges", scanMerge, selectMerge+`WHERE repo_id = ? AND `+unsettledMerge+` ORDER BY id`, repoID)
}

// PutMerge stores a merge by its pull request and head: the intent, its stage, and the commit of a
// half merge. It fails with ErrStale if the merge has landed, or if it is half merged and the new
// stage is neither half nor void: nothing is merged twice. A half merge becomes void if the base
// lost its commit or the merge is over. Only LandMerge stores that a merge landed.
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
		err = t.execOne(ctx, what, ErrStale,
			`UPDATE merges SET stage = ?2, base = ?3, base_oid = ?4, tree = ?5, method = ?6, commit_oid = ?7, at = ?8
			 WHERE id = ?1 AND stage <> 'landed' AND (stage <> 'half' OR ?2 IN ('half', 'void'))`,
			known.ID, m.Stage, m.Base, m.BaseOID, m.Tree, m.Method, m.Commit, timeOf(&m.At))
	} else {
		fresh := m // the fields of a landed commit are not stored here
		fresh.Parent, fresh.Landed, fresh.LandedAt, fresh.Differs = "", "", time.Time{}, ""
		known.ID, err = t.insertNew(ctx, what, "merges", mergeColumns, mergeFields(&fresh), "pull_id, head")
	}
	if err == nil && known.Stage != m.Stage {
		err = t.MarkReviewsChanged(ctx, m.PullID)
	}
	return known.ID, err
}

// LandMerge stores how a merge landed, by its id: Commit, Parent, Landed, Differs and
// LandedAt. If the result differs from the intent for the second time in a row in the repository,
// merging is halted there with the reason halt, and halted is true; without a reason it is not
// counted. It fails with ErrStale if the
// merge has landed already.
func (t *Tx) LandMerge(ctx context.Context, m merging.Merge, halt work.Reason) (halted bool, err error) {
	what := fmt.Sprintf("land merge %d", m.ID)
	known, err := getRow(ctx, t, what, scanMerge, selectMerge+`WHERE id = ?`, m.ID)
	if err != nil {
		return false, err
	}
	err = t.execOne(ctx, what, ErrStale,
		`UPDATE merges SET stage = 'landed', commit_oid = ?, parent_oid = ?, landed_tree = ?, differs = ?, landed_at = ?
		 WHERE id = ? AND stage <> 'landed'`,
		m.Commit, m.Parent, m.Landed, t.clean(m.Differs), t.stamp(m.LandedAt), m.ID)
	if err == nil && !halt.None() {
		halted, err = t.countDiffering(ctx, known.RepoID, m.Differs != "", halt)
	}
	if err == nil {
		err = t.MarkReviewsChanged(ctx, known.PullID)
	}
	return halted, err
}
