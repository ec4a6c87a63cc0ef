package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// The comment with the table of a roadmap is made again when what it shows may have changed. Each
// change marks the roadmap, so that an idle pass reads nothing of it.

const markTable = `UPDATE roadmaps SET table_at = ? WHERE (table_at = 0 OR table_at > ?) AND state NOT IN ('deleted', 'ended') AND `

// MarkTable marks a roadmap's table.
func (t *Tx) MarkTable(ctx context.Context, itemID int64) error {
	return t.write(ctx, fmt.Sprintf("mark the table of item %d", itemID), markTable+`item_id = ?`, millis(t.now), millis(t.now), itemID)
}

// thenMark marks a roadmap's table after something that succeeded.
func (t *Tx) thenMark(ctx context.Context, itemID int64, err error) error {
	if err != nil {
		return err
	}
	return t.MarkTable(ctx, itemID)
}

// MarkTableAbove marks the table of the roadmap in which a work item's issue is shown, if there is one.
func (t *Tx) MarkTableAbove(ctx context.Context, itemID int64) error {
	return t.write(ctx, fmt.Sprintf("mark the table above item %d", itemID), markTable+`item_id IN (
		SELECT m.item_id FROM roadmaps m JOIN work_items f ON f.id = m.item_id JOIN repositories r ON r.id = f.repo_id, work_items c
		WHERE `+liveRoadmap+` AND c.id = ? AND c.parent_ref = r.name || '#' || f.number)`, millis(t.now), millis(t.now), itemID)
}

// FindRoadmapOf returns the newest roadmap of an issue, also one that has ended.
func (t *Tx) FindRoadmapOf(ctx context.Context, repoID int64, number int) (roadmap.Record, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find the roadmap of #%d", number), scanRoadmap, selectRoadmap+`WHERE m.item_id =
		(SELECT max(x.item_id) FROM work_items y JOIN roadmaps x ON x.item_id = y.id WHERE y.repo_id = ? AND y.number = ?)`, repoID, number)
}

// ListDueTables returns the roadmaps of a repository whose tables are due, once more after their end.
func (t *Tx) ListDueTables(ctx context.Context, repoID int64, now time.Time) ([]roadmap.Record, error) {
	return listRows(ctx, t, "list tables that are due", scanRoadmap, selectRoadmap+`WHERE m.state <> 'deleted' AND m.repo_id = ? AND m.table_at > 0 AND m.table_at <= ?`, repoID, millis(now))
}

// SetTableAt stores when the table of a roadmap is made again, even if nothing changes; zero: never.
func (t *Tx) SetTableAt(ctx context.Context, itemID int64, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("set when the table of item %d is made", itemID), ErrNotFound, `UPDATE roadmaps SET table_at = ? WHERE item_id = ?`, millis(at), itemID)
}

// ListIdle returns the issues below a roadmap that are known to be ready, and on which nobody works.
func (t *Tx) ListIdle(ctx context.Context, itemID int64) ([]roadmap.Neglected, error) {
	return listRows(ctx, t, fmt.Sprintf("list idle issues of item %d", itemID), func(row scanner) (i roadmap.Neglected, err error) {
		return i, row.Scan(&i.Ref, timeOf(&i.Since), timeOf(&i.ToldAt))
	}, `SELECT ref, since, told_at FROM idle_issues WHERE item_id = ? ORDER BY ref`, itemID)
}

// SetIdle replaces what ListIdle returns.
func (t *Tx) SetIdle(ctx context.Context, itemID int64, list []roadmap.Neglected) error {
	what := fmt.Sprintf("set the idle issues of item %d", itemID)
	if err := t.write(ctx, what, `DELETE FROM idle_issues WHERE item_id = ?`, itemID); err != nil {
		return err
	}
	for some := range batches(slices.Clone(list)) {
		var args []any
		for _, i := range some {
			args = append(args, itemID, i.Ref, millis(i.Since), millis(i.ToldAt))
		}
		if err := t.write(ctx, what, `INSERT INTO idle_issues (item_id, ref, since, told_at) VALUES `+rowPlaceholders(len(some), 4), args...); err != nil {
			return err
		}
	}
	return nil
}
