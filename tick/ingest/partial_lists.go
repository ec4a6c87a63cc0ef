package ingest

import (
	"context"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/store"
)

// One issue or pull request is ingested whole or not at all. If its conversation or timeline has
// more pages than there is time for, the pages read are kept, in the transaction that stores the
// rest of the slice, and the next pass reads on from there: see transport.PagedList. Lists that
// were read whole are kept, too, if there was no time for the rest of their issue or pull request,
// or to judge it.

// partialLists are the lists of single issues and pull requests of which more than one page was
// read.
type partialLists struct {
	reading *reading

	mu     sync.Mutex
	stored map[string]bool        // lists that have pages in the database
	begun  map[string]bool        // lists of which this pass read something
	read   map[string]partialList // since the last issue or pull request
	left   map[string]partialList // kept for the next pass, unless their issue or pull request is ingested
}

// partialList is the part of a list that was read.
type partialList struct {
	part  func() (transport.KeptPart, error)
	whole bool
	of    []int // issues and pull requests it belongs to
	taken bool  // these are ingested, unless their events cannot be judged
}

func newPartialLists(h *reading) *partialLists {
	return &partialLists{reading: h, stored: map[string]bool{}, begun: map[string]bool{}, read: map[string]partialList{}, left: map[string]partialList{}}
}

// Find returns the pages of a list that an earlier pass kept.
func (l *partialLists) Find(ctx context.Context, name string) (part transport.KeptPart, err error) {
	l.mu.Lock()
	begun := l.begun[name]
	l.mu.Unlock()
	if begun {
		return part, nil
	}
	err = l.reading.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		pages, err := tx.ListPages(ctx, l.reading.row.ID, name)
		for _, p := range pages {
			part.Begun = p.Begun
			part.Pages = append(part.Pages, transport.KeptPage{URL: p.URL, Items: p.Items})
		}
		return err
	})
	if len(part.Pages) > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stored[name] = true
	}
	return part, err
}

// Keep records how far a list was read. why is nil if it was read whole.
func (l *partialLists) Keep(ctx context.Context, name string, part func() (transport.KeptPart, error), why error) {
	if ahead.InAdvance(ctx) {
		return // the read that uses the prefetched answer keeps it
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun[name] = true
	for _, one := range []partialList{l.read[name], l.left[name]} {
		if one.whole && why != nil {
			return // a later read got less far
		}
	}
	l.read[name] = partialList{part: part, whole: why == nil}
}

// assignLists assigns the lists just read to some issues and pull requests. Once these are taken
// in, nothing is kept; otherwise the next pass needs the pages.
func (l *partialLists) assignLists(taken bool, numbers ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, one := range l.read {
		one.of = numbers
		l.left[name] = one
	}
	clear(l.read)
	of := func(n int) bool { return n != 0 && slices.Contains(numbers, n) } // 0: there is no issue
	for name, one := range l.left {
		if taken && slices.ContainsFunc(one.of, of) {
			one.taken = true
			l.left[name] = one
		}
	}
}

func (l *partialLists) needed(one partialList) bool {
	forgotten := func(n int) bool { return l.reading.forgotten[n] }
	return !one.whole || !one.taken || slices.ContainsFunc(one.of, forgotten)
}

// store stores the pages that the next pass needs.
func (l *partialLists) store(ctx context.Context, tx *store.Tx) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, one := range l.read { // of no issue or pull request, or of one that was not reached
		one.taken = l.reading.incomplete == nil
		l.left[name] = one
	}
	clear(l.read)
	for name, one := range l.left {
		needed := l.needed(one)
		if !needed && !l.stored[name] {
			continue
		}
		if err := l.put(ctx, tx, name, one, needed); err != nil {
			return err
		}
	}
	return nil
}

// next begins the next slice after the last one was stored.
func (l *partialLists) next() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, one := range l.left {
		l.stored[name] = l.needed(one)
	}
	clear(l.left)
}

// put stores the pages of a list, or deletes them.
func (l *partialLists) put(ctx context.Context, tx *store.Tx, name string, one partialList, needed bool) error {
	if !needed {
		return tx.PutPages(ctx, l.reading.row.ID, name, 0, nil)
	}
	part, err := one.part()
	if err != nil {
		return err
	}
	pages := make([]store.ListPage, len(part.Pages))
	for i, p := range part.Pages {
		pages[i] = store.ListPage{Begun: part.Begun, URL: p.URL, Items: p.Items}
	}
	return tx.PutPages(ctx, l.reading.row.ID, name, part.Same, pages)
}
