package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const (
	followupColumns = `item_id, resume_turn, resume_commit, run_start_comment_id, comment_cursor, event_cursor, since, waiting_reason`
	selectFollowup  = `SELECT ` + followupColumns + ` FROM followups f `
)

func followupFields(f *work.Followup) []any {
	return []any{
		&f.ItemID, &f.Turn, &f.Commit, &f.RunStartComment, &f.CommentCursor, &f.EventCursor,
		rows.TimeOf(&f.Since),
		rows.ReasonOf(&f.Reason),
	}
}

func scanFollowup(row rows.Row) (f work.Followup, err error) {
	return f, row.Scan(followupFields(&f)...)
}

// PutFollowup stores what a work item waits for, in place of what it waited
// for before.
func (t itemRows) PutFollowup(ctx context.Context, f work.Followup) error {
	f.Reason = f.Reason.Map(t.tx.Clean)
	_, err := t.tx.Exec(ctx, fmt.Sprintf("put follow-up of item %d", f.ItemID),
		`INSERT OR REPLACE INTO followups (`+followupColumns+`) VALUES (`+rows.Marks(8)+`)`, followupFields(&f)...)
	return err
}

// FindFollowup gives what a work item waits for, or waited for before the turn
// that resumes it.
func (t itemRows) FindFollowup(ctx context.Context, itemID int64) (work.Followup, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("find follow-up of item %d", itemID), scanFollowup, selectFollowup+`WHERE item_id = ?`, itemID)
}

// DropFollowup forgets what a work item waited for.
func (t itemRows) DropFollowup(ctx context.Context, itemID int64) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("drop follow-up of item %d", itemID), `DELETE FROM followups WHERE item_id = ?`, itemID)
	return err
}

// ListStandingFollowups gives those of all work items in a state that have
// neither a pull request nor an unfinished turn.
func (t itemRows) ListStandingFollowups(ctx context.Context, state work.State) ([]work.Followup, error) {
	return rows.List(ctx, t.tx, "list follow-ups", scanFollowup, selectFollowup+`
		WHERE EXISTS (SELECT 1 FROM work_items i WHERE i.id = f.item_id AND i.state = ?)
		AND NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = f.item_id)
		AND NOT EXISTS (SELECT 1 FROM turns u WHERE u.item_id = f.item_id AND `+unfinished+`) ORDER BY item_id`, state)
}
