package store

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Beside says which rows there are beside a work item, so that of many items only those are
// asked about that have some.
type Beside struct {
	Stop, Followup, Turns bool
	Threads               bool // of one of its pull requests
}

// ListBeside says it of several work items, by their ids.
func (t itemRows) ListBeside(ctx context.Context, items []int64) (map[int64]Beside, error) {
	found := make(map[int64]Beside, len(items))
	_, err := rows.List(ctx, t.tx, "list what there is beside work items", func(row rows.Row) (id int64, err error) {
		var b Beside
		err = row.Scan(&id, &b.Stop, &b.Followup, &b.Turns, &b.Threads)
		found[id] = b
		return id, err
	}, `SELECT i.value, EXISTS (SELECT 1 FROM stops WHERE item_id = i.value), EXISTS (SELECT 1 FROM followups WHERE item_id = i.value),
			EXISTS (SELECT 1 FROM turns WHERE item_id = i.value),
			EXISTS (SELECT 1 FROM pull_requests p CROSS JOIN threads t ON t.pull_id = p.id WHERE p.item_id = i.value)
		FROM json_each(?) i`, rows.IDsOf(items))
	return found, err
}

// GetItems gives several work items by their ids; those that there are not, it leaves out.
func (t itemRows) GetItems(ctx context.Context, ids []int64) ([]work.Item, error) {
	return rows.List(ctx, t.tx, "get several items", scanItem, selectItem+`WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`, rows.IDsOf(ids))
}

// FindPullsOfItems is FindPullOfItem for several work items, by their ids.
func (t pullRows) FindPullsOfItems(ctx context.Context, items []int64) (map[int64]work.PullRequest, error) {
	found, scan := make(map[int64]work.PullRequest, len(items)), scanPulls()
	_, err := rows.List(ctx, t.tx, "find the pull requests of several items", func(row rows.Row) (none struct{}, err error) {
		p, err := scan(row)
		if known, ok := found[p.ItemID]; !ok || p.Number > known.Number {
			found[p.ItemID] = p
		}
		return none, err
	}, selectPull+`WHERE item_id IN (SELECT value FROM json_each(?))`, rows.IDsOf(items))
	return found, err
}
