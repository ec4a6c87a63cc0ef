package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const stopColumns = `item_id, number, token, reason, attempts, since, ended_at, taken_at`

func stopFields(s *work.Stop) []any {
	return []any{&s.ItemID, &s.Number, &s.Token, rows.ReasonOf(&s.Reason), &s.Attempts, rows.TimeOf(&s.Since), rows.TimeOf(&s.Ended), rows.TimeOf(&s.Taken)}
}

func scanStop(row rows.Row) (s work.Stop, err error) { return s, row.Scan(stopFields(&s)...) }

// PutStop stores why a work item is stopped, in place of why it was before.
func (t itemRows) PutStop(ctx context.Context, s work.Stop) error {
	s.Reason = s.Reason.Map(t.tx.Clean)
	_, err := t.tx.Exec(ctx, fmt.Sprintf("put stop of item %d", s.ItemID),
		`INSERT OR REPLACE INTO stops (`+stopColumns+`) VALUES (`+rows.Marks(8)+`)`, stopFields(&s)...)
	return err
}

// FindStop gives why a work item is stopped, or last was.
func (t itemRows) FindStop(ctx context.Context, itemID int64) (work.Stop, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("find stop of item %d", itemID), scanStop, `SELECT `+stopColumns+` FROM stops WHERE item_id = ?`, itemID)
}

// ListTakenStops gives the stops of all repositories whose comments say that
// people have taken the item over.
func (t itemRows) ListTakenStops(ctx context.Context) ([]work.Stop, error) {
	return rows.List(ctx, t.tx, "list stops of paused items", scanStop, `SELECT `+stopColumns+` FROM stops WHERE taken_at <> 0 ORDER BY item_id`)
}
