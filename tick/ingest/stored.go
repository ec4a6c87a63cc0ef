package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// storedRows are rows as the database had them when a slice first asked: a slice is judged by one state, and a server
// far away is asked once for each.
type storedRows struct {
	items   map[int64]work.Item      // by id
	newest  map[int]work.Item        // of an issue, by number; without id: there is none
	pulls   map[int]work.PullRequest // by number; without id: it is not tracked
	numbers map[int64][]int          // of the issue and the pull request of an item, by its id
}

func newStoredRows() storedRows {
	return storedRows{items: map[int64]work.Item{}, newest: map[int]work.Item{}, pulls: map[int]work.PullRequest{}, numbers: map[int64][]int{}}
}

// once reads what a slice has not read yet.
func once[K comparable, V any](ctx context.Context, d database, rows map[K]V, key K, read func(context.Context, *store.Tx) (V, error)) (V, error) {
	if row, known := rows[key]; known {
		return row, nil
	}
	row, err := readRows(ctx, d, read)
	if err == nil {
		rows[key] = row
	}
	return row, err
}

// item returns the newest work item of an issue, with this slice's changes.
func (h *reading) item(ctx context.Context, number int) (work.Item, bool, error) {
	if item, ok := h.items[number]; ok {
		return item, true, nil
	}
	item, err := once(ctx, h.database, h.rows.newest, number, func(ctx context.Context, tx *store.Tx) (work.Item, error) {
		item, _, err := tx.FindItem(ctx, h.row.ID, number)
		return item, err
	})
	return item, item.ID != 0, err
}

// storedItem returns a work item without this slice's changes.
func (h *reading) storedItem(ctx context.Context, id int64) (work.Item, error) {
	return once(ctx, h.database, h.rows.items, id, func(ctx context.Context, tx *store.Tx) (work.Item, error) { return tx.GetItem(ctx, id) })
}

// pull returns a tracked pull request, with this slice's changes.
func (h *reading) pull(ctx context.Context, number int) (work.PullRequest, bool, error) {
	if news := h.pulls[number]; news != nil && news.row.Number != 0 {
		return news.row, true, nil
	}
	pull, err := once(ctx, h.database, h.rows.pulls, number, func(ctx context.Context, tx *store.Tx) (work.PullRequest, error) {
		pull, _, err := tx.GetPull(ctx, h.row.ID, number)
		return pull, err
	})
	return pull, pull.ID != 0, err
}

// itemOfPull returns the work item of a pull request, with this slice's changes; a zero item if
// none is stored yet.
func (h *reading) itemOfPull(ctx context.Context, pull work.PullRequest) (item work.Item, err error) {
	if pull.ItemID == 0 {
		return h.items[h.adopted[pull.Number]], nil
	}
	if item, ok := h.items[pull.Number]; ok && item.ID == pull.ItemID {
		return item, nil
	}
	return h.storedItem(ctx, pull.ItemID)
}

// numbersOf returns the numbers of the issue and the pull request of an item.
func (h *reading) numbersOf(ctx context.Context, id int64) ([]int, error) {
	return once(ctx, h.database, h.rows.numbers, id, func(ctx context.Context, tx *store.Tx) ([]int, error) {
		item, err := tx.GetItem(ctx, id)
		if err != nil {
			return nil, err
		}
		return env.PauseNumbers(ctx, tx, item)
	})
}

// partnersOf returns the numbers of the item that a number belongs to. It reads all at once that its slice needs first.
func (h *reading) partnersOf(ctx context.Context, n int) ([]int, error) {
	type rows struct {
		pull    work.PullRequest
		item    work.Item
		numbers []int
	}
	r, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (r rows, err error) {
		known := false
		if r.pull, known, err = tx.GetPull(ctx, h.row.ID, n); err != nil || known && r.pull.ItemID == 0 {
			return r, err
		}
		if known {
			r.item, err = tx.GetItem(ctx, r.pull.ItemID)
		} else {
			r.item, known, err = tx.FindItem(ctx, h.row.ID, n)
		}
		if err == nil && known {
			r.numbers, err = env.PauseNumbers(ctx, tx, r.item)
		}
		return r, err
	})
	if err != nil {
		return nil, err
	}
	h.rows.pulls[n] = r.pull
	if r.item.ID != 0 {
		h.rows.items[r.item.ID], h.rows.numbers[r.item.ID] = r.item, r.numbers
	}
	if r.pull.ID == 0 {
		h.rows.newest[n] = r.item
	}
	return r.numbers, nil
}
