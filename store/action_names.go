package store

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Names are what the log calls what an action belongs to.
type Names struct {
	Item  int64  // 0: it belongs to none
	Issue int    // of the item
	Pull  int    // the item's newest pull request; 0: none yet
	Turn  string // the turn's key; empty for a notice
}

// NamesOf gives the names of what an action belongs to.
func (t actionRows) NamesOf(ctx context.Context, a work.Action) (Names, error) {
	scan := func(row rows.Row) (n Names, err error) { return n, row.Scan(&n.Item, &n.Issue, &n.Pull, &n.Turn) }
	n, _, err := rows.Find(ctx, t.tx, "names of action "+a.Token, scan, `
		SELECT i.id, i.number, (SELECT coalesce(max(number), 0) FROM pull_requests WHERE item_id = i.id), coalesce(t.turn_key, '')
		FROM work_items i LEFT JOIN turns t ON t.id = ?1
		WHERE i.id = coalesce(t.item_id, ?2)`, a.TurnID, a.ItemID)
	return n, err
}
