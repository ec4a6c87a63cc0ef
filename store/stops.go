package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

const stopColumns = `item_id, number, token, reason, attempts, since, ended_at, taken_at`

func stopFields(s *work.Stop) []any {
	return []any{&s.ItemID, &s.Number, &s.Token, reasonOf(&s.Reason), &s.Attempts, timeOf(&s.Since), timeOf(&s.Ended), timeOf(&s.Taken)}
}

func scanStop(row scanner) (s work.Stop, err error) { return s, row.Scan(stopFields(&s)...) }

// PutStop stores why a work item is stopped. It replaces the former reason.
func (t *Tx) PutStop(ctx context.Context, s work.Stop) error {
	s.Reason = s.Reason.Map(t.clean)
	return t.write(ctx, fmt.Sprintf("put stop of item %d", s.ItemID),
		`INSERT INTO stops (`+stopColumns+`) VALUES (`+placeholders(8)+`)
		 ON CONFLICT (item_id) DO UPDATE SET number = excluded.number, token = excluded.token, reason = excluded.reason, attempts = excluded.attempts,
		 since = excluded.since, ended_at = excluded.ended_at, taken_at = excluded.taken_at`, stopFields(&s)...)
}

// FindStop returns why a work item is stopped, or last was.
func (t *Tx) FindStop(ctx context.Context, itemID int64) (work.Stop, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find stop of item %d", itemID), scanStop, `SELECT `+stopColumns+` FROM stops WHERE item_id = ?`, itemID)
}

// ListTakenStops returns the stops of all repositories whose comments say that the item is paused.
func (t *Tx) ListTakenStops(ctx context.Context) ([]work.Stop, error) {
	// With ORDER BY item_id, SQLite would read the whole table instead of the index.
	stops, err := listRows(ctx, t, "list stops of paused items", scanStop, `SELECT `+stopColumns+` FROM stops WHERE taken_at <> 0`)
	sorted.By(stops, func(a, b work.Stop) int { return cmp.Compare(a.ItemID, b.ItemID) })
	return stops, err
}

const (
	followupColumns = `id, resume_turn, resume_commit, run_start_comment_id, comment_cursor, event_cursor, resume_since, waiting_reason`
	ofFollowups     = ` FROM work_items WHERE resume_since > 0 AND `
)

func followupFields(f *work.Followup) []any {
	return []any{&f.ItemID, &f.Turn, &f.Commit, &f.RunStartComment, &f.CommentCursor, &f.EventCursor, timeOf(&f.Since), reasonOf(&f.Reason)}
}

func scanFollowup(row scanner) (f work.Followup, err error) {
	return f, row.Scan(followupFields(&f)...)
}

// PutFollowup stores what a work item waits for. It replaces the former one.
func (t *Tx) PutFollowup(ctx context.Context, f work.Followup) error {
	f.Reason = f.Reason.Map(t.clean)
	return t.execOne(ctx, fmt.Sprintf("put follow-up of item %d", f.ItemID), ErrNotFound,
		`UPDATE work_items SET resume_turn = ?, resume_commit = ?, run_start_comment_id = ?, comment_cursor = ?, event_cursor = ?, resume_since = ?, waiting_reason = ? WHERE id = ?`,
		f.Turn, f.Commit, f.RunStartComment, f.CommentCursor, f.EventCursor, t.stamp(f.Since), reasonOf(&f.Reason), f.ItemID)
}

// FindFollowup returns what a work item waits for, or waited for before the turn that resumes it.
func (t *Tx) FindFollowup(ctx context.Context, itemID int64) (work.Followup, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find follow-up of item %d", itemID), scanFollowup, `SELECT `+followupColumns+ofFollowups+`id = ?`, itemID)
}

// DropFollowup records that a work item waits for nothing any more.
func (t *Tx) DropFollowup(ctx context.Context, itemID int64) error {
	return t.write(ctx, fmt.Sprintf("drop follow-up of item %d", itemID), `UPDATE work_items SET resume_since = 0 WHERE id = ? AND resume_since > 0`, itemID)
}

// RelatedRows says which rows refer to a work item, so that only those are read.
type RelatedRows struct {
	Stop, Followup, Turns bool
	Threads               bool // of one of its pull requests
}

// ListRelatedRows returns the RelatedRows of several work items, by their ids.
func (t *Tx) ListRelatedRows(ctx context.Context, items []int64) (map[int64]RelatedRows, error) {
	found := make(map[int64]RelatedRows, len(items))
	_, err := listIn(ctx, t, "list the rows related to work items", func(row scanner) (id int64, err error) {
		var b RelatedRows
		err = row.Scan(&id, &b.Stop, &b.Followup, &b.Turns, &b.Threads)
		found[id] = b
		return id, err
	}, `SELECT i.id, EXISTS (SELECT 1 FROM stops WHERE item_id = i.id), i.resume_since > 0,
			EXISTS (SELECT 1 FROM turns WHERE item_id = i.id),
			EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = i.id AND p.threads <> '[]')
		FROM work_items i WHERE i.id IN (%s)`, items)
	return found, err
}

// GetItems returns several work items by their ids. It leaves out missing ones.
func (t *Tx) GetItems(ctx context.Context, ids []int64) ([]work.Item, error) {
	return listIn(ctx, t, "get several items", scanItem, selectItem+`WHERE id IN (%s) ORDER BY id`, slices.Sorted(slices.Values(ids)))
}

// FindPullsOfItems is FindPullOfItem for several work items, by their ids.
func (t *Tx) FindPullsOfItems(ctx context.Context, items []int64) (map[int64]work.PullRequest, error) {
	found, scan := make(map[int64]work.PullRequest, len(items)), scanPulls()
	_, err := listIn(ctx, t, "find the pull requests of several items", func(row scanner) (none struct{}, err error) {
		p, err := scan(row)
		if known, ok := found[p.ItemID]; !ok || p.Number > known.Number {
			found[p.ItemID] = p
		}
		return none, err
	}, selectPull+`WHERE item_id IN (%s)`, items)
	return found, err
}
