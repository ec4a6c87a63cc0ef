package reviews

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/store/rows"
)

// LogEntry is one thing that happened about the reviews of a pull request, for people and
// programs.
type LogEntry struct {
	RepoID int64
	ItemID int64 // 0 when it belongs to none
	Number int   // of the pull request
	Key    string
	At     time.Time
	What   string
	Data   string // JSON
}

const logColumns = `repo_id, item_id, number, key, at, what, data`

func logFields(e *LogEntry) []any {
	return []any{&e.RepoID, rows.RefOf(&e.ItemID), &e.Number, &e.Key, rows.TimeOf(&e.At), &e.What, &e.Data}
}

func scanLog(row rows.Row) (e LogEntry, err error) { return e, row.Scan(logFields(&e)...) }

// AddReviewLog records what happened. It is false where the repository knows the key: it
// was told already.
func (t Rows) AddReviewLog(ctx context.Context, e LogEntry) (bool, error) {
	if e.At.IsZero() {
		e.At = t.tx.Now
	}
	e.Data = t.tx.Clean(e.Data)
	_, err := t.tx.Insert(ctx, "log "+e.Key, "review_log", logColumns, logFields(&e))
	if errors.Is(err, rows.ErrStale) {
		return false, nil
	}
	return err == nil, err
}

// ListReviewLog gives what happened about the reviews of a work item, the oldest first.
func (t Rows) ListReviewLog(ctx context.Context, itemID int64) ([]LogEntry, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list the review log of item %d", itemID), scanLog,
		`SELECT `+logColumns+` FROM review_log WHERE item_id = ? ORDER BY at, id`, itemID)
}
