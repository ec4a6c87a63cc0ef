package batch

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/resume"
	"github.com/mergexo/gh-mergexo/store"
)

// What belongs to one issue or pull request is taken in whole, or not at all. Where its
// conversation or its timeline has more pages than there is time for, what was read of them
// is kept, in the transaction that stores the rest of the slice, and the next pass reads on
// from there: see internal/resume. Lists that were read whole are kept, too, where there was
// no time for something else of the same issue or pull request.

// lists are those of which more than a page was read.
type lists struct {
	batch *Batch

	mu     sync.Mutex
	stored map[string]bool // of which the database has pages
	found  map[string]bool // of these, those that this pass has not read on yet
	read   map[string]list // since the last issue or pull request
	left   map[string]list // for the next pass, unless what they are of is taken in
}

// list is what was read of one.
type list struct {
	part  func() (resume.Part, error)
	whole bool
	of    []int // issues and pull requests
	taken bool  // they are, unless what was read of them cannot be judged
}

func newLists(h *Batch) *lists {
	return &lists{batch: h, stored: map[string]bool{}, found: map[string]bool{}, read: map[string]list{}, left: map[string]list{}}
}

// Resuming is a context in which lists are read on from where earlier passes stopped.
func (h *Batch) Resuming(ctx context.Context) context.Context { return resume.With(ctx, h.lists) }

// LoadLists finds out of which lists the database has pages.
func (h *Batch) LoadLists(ctx context.Context, tx *store.Tx) error {
	kept, err := tx.ListKeptLists(ctx, h.Repo.ID)
	for _, name := range kept {
		h.lists.stored[name], h.lists.found[name] = true, true
	}
	return err
}

// Find gives what an earlier pass left of a list.
func (l *lists) Find(ctx context.Context, name string) (part resume.Part, err error) {
	l.mu.Lock()
	found := l.found[name]
	l.mu.Unlock()
	if !found {
		return part, nil
	}
	err = l.batch.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		pages, err := tx.ListPages(ctx, l.batch.Repo.ID, name)
		for _, p := range pages {
			part.Begun = p.Begun
			part.Pages = append(part.Pages, resume.Page{URL: p.URL, Items: p.Items})
		}
		return err
	})
	return part, err
}

// Keep notes what was read of a list.
func (l *lists) Keep(name string, part func() (resume.Part, error), why error) {
	if errors.Is(why, ahead.ErrEnough) {
		return // its first page was asked for in advance
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.found, name)
	l.read[name] = list{part: part, whole: why == nil}
}

// Settle decides what becomes of the lists that were read for some issues and pull requests:
// once these are taken in nothing is kept of them. Otherwise the next pass needs them.
func (h *Batch) Settle(taken bool, numbers ...int) {
	l := h.lists
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, one := range l.read {
		one.of = numbers
		l.left[name] = one
	}
	clear(l.read)
	of := func(n int) bool { return slices.Contains(numbers, n) }
	for name, one := range l.left {
		if taken && slices.ContainsFunc(one.of, of) {
			one.taken = true
			l.left[name] = one
		}
	}
}

// needed reports whether the next pass needs what was read of a list.
func (h *Batch) needed(one list) bool {
	forgotten := func(n int) bool { return h.Forgotten[n] }
	return !one.whole || !one.taken || slices.ContainsFunc(one.of, forgotten)
}

// storeLists stores what the next pass needs.
func (h *Batch) storeLists(ctx context.Context, tx *store.Tx) error {
	l := h.lists
	for name, one := range l.read { // for no issue and no pull request
		one.taken = true
		l.left[name] = one
	}
	for name, one := range l.left {
		if !h.needed(one) && !l.stored[name] {
			continue
		}
		var part resume.Part
		var err error
		if l.stored[name] = h.needed(one); l.stored[name] {
			part, err = one.part()
		}
		if err != nil {
			return err
		}
		pages := make([]store.ListPage, len(part.Pages))
		for i, p := range part.Pages {
			pages[i] = store.ListPage{Begun: part.Begun, URL: p.URL, Items: p.Items}
		}
		if err := tx.PutPages(ctx, h.Repo.ID, name, part.Same, pages); err != nil {
			return err
		}
	}
	clear(l.read)
	clear(l.left)
	return nil
}
