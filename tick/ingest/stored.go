package ingest

import (
	"cmp"
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
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

// stored reads what the database has. If it cannot be read, the slice is broken: nothing of it is stored, and its numbers
// stay in the backlog with that error. A row that could not be read is not one that is not there.
func stored[T any](ctx context.Context, h *reading, read func(context.Context, *store.Tx) (T, error)) (value T) {
	some, err := readRows(ctx, h.database, read)
	if err != nil {
		h.broken = cmp.Or(h.broken, err)
		return value
	}
	return some
}

// due are rows about which the last reads of a pass ask GitHub.
type due struct {
	designs      []work.Item // all open items: those with a faulty design among them
	dependencies []store.Dependency
	roadmaps     []roadmap.Record
	hidden       []work.Event
	commands     []work.Event // pending ones that no action answers
}

func (h *reading) loadDue(ctx context.Context, tx *store.Tx) (d due, err error) {
	var errs [5]error
	if len(h.changed) > 0 {
		d.designs, errs[0] = tx.ListOpenItems(ctx, h.row.ID)
	}
	d.dependencies, errs[1] = tx.ListOpenDependencies(ctx, h.row.ID)
	d.roadmaps, errs[2] = tx.ListRoadmaps(ctx, h.row.ID)
	d.hidden, errs[3] = tx.ListHidden(ctx, h.row.ID, tx.Moment(h.now).Add(-hiddenLife), github.MaxWords)
	d.commands, errs[4] = h.listUnanswered(ctx, tx)
	return d, errors.Join(errs[:]...)
}

// once reads what a slice has not read yet.
func once[K comparable, V any](ctx context.Context, h *reading, rows map[K]V, key K, read func(context.Context, *store.Tx) (V, error)) V {
	row, known := rows[key]
	if !known {
		row = stored(ctx, h, read)
		rows[key] = row
	}
	return row
}

// item returns the newest work item of an issue, with this slice's changes.
func (h *reading) item(ctx context.Context, number int) (work.Item, bool) {
	if item, ok := h.items[number]; ok {
		return item, true
	}
	item := once(ctx, h, h.rows.newest, number, func(ctx context.Context, tx *store.Tx) (work.Item, error) {
		item, _, err := tx.FindItem(ctx, h.row.ID, number)
		return item, err
	})
	return item, item.ID != 0
}

// pull returns a tracked pull request, with this slice's changes.
func (h *reading) pull(ctx context.Context, number int) (work.PullRequest, bool) {
	if news := h.pulls[number]; news != nil && news.row.Number != 0 {
		return news.row, true
	}
	pull := once(ctx, h, h.rows.pulls, number, func(ctx context.Context, tx *store.Tx) (work.PullRequest, error) {
		pull, _, err := tx.GetPull(ctx, h.row.ID, number)
		return pull, err
	})
	return pull, pull.ID != 0
}

// itemOfPull returns the work item of a pull request, with this slice's changes; a zero item if
// none is stored yet.
func (h *reading) itemOfPull(ctx context.Context, pull work.PullRequest) work.Item {
	if pull.ItemID == 0 {
		return h.items[h.adopted[pull.Number]]
	}
	if item, ok := h.items[pull.Number]; ok && item.ID == pull.ItemID {
		return item
	}
	return once(ctx, h, h.rows.items, pull.ItemID, func(ctx context.Context, tx *store.Tx) (work.Item, error) { return tx.GetItem(ctx, pull.ItemID) })
}

// partnersOf returns the numbers of the item that a number belongs to. It reads all at once that its slice needs first.
func (h *reading) partnersOf(ctx context.Context, n int) []int {
	type rows struct {
		pull    work.PullRequest
		item    work.Item
		numbers []int
	}
	r := stored(ctx, h, func(ctx context.Context, tx *store.Tx) (r rows, err error) {
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
	h.rows.pulls[n] = r.pull
	if r.item.ID != 0 {
		h.rows.items[r.item.ID], h.rows.numbers[r.item.ID] = r.item, r.numbers
	}
	if r.pull.ID == 0 {
		h.rows.newest[n] = r.item
	}
	return r.numbers
}
