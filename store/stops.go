package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const stopColumns = `item_id, number, token, reason, attempts, since, ended_at, taken_at`

func stopFields(s *work.Stop) []any {
	return []any{&s.ItemID, &s.Number, &s.Token, reasonOf{&s.Reason}, &s.Attempts, timeOf{&s.Since}, timeOf{&s.Ended}, timeOf{&s.Taken}}
}

func scanStop(row scanner) (s work.Stop, err error) { return s, row.Scan(stopFields(&s)...) }

// PutStop stores why a work item is stopped, in place of why it was before.
func (t itemRows) PutStop(ctx context.Context, s work.Stop) error {
	s.Reason = s.Reason.Map(t.clean)
	_, err := t.exec(ctx, fmt.Sprintf("put stop of item %d", s.ItemID),
		`INSERT OR REPLACE INTO stops (`+stopColumns+`) VALUES (`+marks(8)+`)`, stopFields(&s)...)
	return err
}

// FindStop gives why a work item is stopped, or last was.
func (t itemRows) FindStop(ctx context.Context, itemID int64) (work.Stop, bool, error) {
	return find(ctx, t.transaction, fmt.Sprintf("find stop of item %d", itemID), scanStop, `SELECT `+stopColumns+` FROM stops WHERE item_id = ?`, itemID)
}

// ListTakenStops gives the stops of all repositories whose comments say that
// people have taken the item over.
func (t itemRows) ListTakenStops(ctx context.Context) ([]work.Stop, error) {
	return list(ctx, t.transaction, "list stops of paused items", scanStop, `SELECT `+stopColumns+` FROM stops WHERE taken_at <> 0 ORDER BY item_id`)
}
