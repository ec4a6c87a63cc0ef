package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// walk reads one of the lists of a pass: oldest change first, from a fixed time on, so that the URL
// keeps its ETag.
//
// An item that changes during the walk moves to the end of the list, and all behind it move up. So
// pages are not asked for by number: each begins at the time at which the last one ended. A walk
// that is cut resumes at such a time, too, and skips nothing that moved.
//
// Only pages of one second differ by number; each walk begins at the first of them. Of changes
// younger than the overlap, each walk asks for all pages again: a list may lag by that much.
//
// fetch reads a page, take takes it in. Only then is a cursor past the page stored.
type walk struct {
	h *reading
	cursor
	address func(work.RepoName, time.Time) string
	read    func(context.Context, transport.PageRequest) (page, error)

	cut       time.Time // where an earlier pass stopped
	behind    bool      // it did not begin at "since"
	begun     bool
	asked     time.Time // when that page was read
	next      string    // address of the next page; empty at the end
	newest    time.Time
	settled   time.Time // a list read from here on lacks no change from before
	old       bool      // some page shows only changes from before settled
	pagesRead int       // that this pass read
	stopped   bool      // there is no time for more

	items   []listedItem // read, and not ingested
	seen    []work.Validator
	waiting bool // a page waits to be ingested
}

// page is a page of any list.
type page = transport.Page[listedItem]

// listedItem is an issue, a pull request or a comment on one as a list shows it.
type listedItem struct {
	number  int                         // of the issue or pull request
	changed time.Time                   // GitHub's updated_at
	issue   *github.Issue               // nil: it is a comment
	list    *cursor                     // that showed it
	intake  func(context.Context) error // makes the event of a comment
}

// itemsOf turns a client's read of a listing into the read of a walk.
func itemsOf[T any](read func(context.Context, transport.PageRequest) (transport.Page[T], error), show func(T) listedItem) func(context.Context, transport.PageRequest) (page, error) {
	return func(ctx context.Context, r transport.PageRequest) (page, error) {
		p, err := read(ctx, r)
		all := page{ETag: p.ETag, Next: p.Next, NotModified: p.NotModified}
		for _, it := range p.Items {
			all.Items = append(all.Items, show(it))
		}
		return all, err
	}
}

// cursor is how far a walk got: what is stored with a slice.
type cursor struct {
	name  string           // in the database; of the lists of all changes, also the end of their path
	kinds []work.EventKind // of the events that come from the list
	since *time.Time       // in the row with moved cursors; nil: from the beginning, once
	was   *time.Time       // since, as stored

	held  time.Time // the oldest listed change that was not ingested
	ended bool      // the list was ingested to its end

	// What happened since the last slice was stored:
	pages     []work.Validator // pages that were ingested
	moved     time.Time        // "since" moved to this time; validators of earlier pages are dropped
	resumesAt *string          // where the next pass resumes the walk; "" if it came to the end
}

// Names of stored walks, in addition to the names of the lists of all changes.
const (
	walkLabel  = "label " // followed by the label: its first listing
	walkPauses = "pauses" // no walk: stored while events wait for the end of a pause
)

// begin finds where to begin: where the last walk was cut, else at "since".
func (w *walk) begin() {
	h := w.h
	var since time.Time
	if w.since != nil {
		if w.since.IsZero() || w.since.After(h.now()) { // the host's clock was ahead for a while
			*w.since = h.now().Add(-overlap).Truncate(time.Second)
		}
		since = *w.since
	}
	from := since
	if w.cut = cutAt(h.known.cuts[w.name]); w.cut.After(h.now()) {
		w.cut = time.Time{}
	}
	if w.cut.After(from) {
		from = w.cut
	}
	w.newest, w.behind = from, from.After(since)
	w.next, w.begun = w.address(h.row.Current, from), true
}

// fetch reads the next page with its own ETag: an unchanged page 1 does not prove that page 2 is
// unchanged. It does nothing at the end or while a page waits to be ingested.
func (w *walk) fetch(ctx context.Context) error {
	if !w.begun {
		w.begin()
	}
	if w.waiting || w.over() {
		return nil
	}
	if w.pagesRead == transport.MostPages {
		w.stopped = true
		w.h.cutList(w.name)
		return nil
	}
	w.asked = w.h.now()
	address := w.next
	got, seen, err := w.readPage(ctx, address)
	if github.OutOfTime(err) {
		w.stopped = true
		w.h.stopReading(err)
		return nil
	}
	if err != nil {
		return err
	}
	w.items, w.seen, w.waiting, w.next = got.Items, seen, true, got.Next
	w.newest = w.newestOf(got)
	if w.pagesRead == 0 {
		w.settled = w.asked.Add(-overlap - 2*time.Second)
	}
	last := w.h.known.pages[address].SeenAt
	if n := len(got.Items); n > 0 {
		last = got.Items[n-1].changed
	}
	w.old = w.old || (got.NotModified || len(got.Items) > 0) && last.Before(w.settled)
	w.pagesRead++
	return nil
}

// through reports whether the list was ingested to its end.
func (w *walk) through() bool { return w.begun && w.next == "" && !w.waiting }

// over reports whether this pass has nothing more to read.
func (w *walk) over() bool { return w.stopped || w.begun && w.next == "" }

// take moves the page that was read into the slice to store. It also sets the ETags of the page and
// the place where the next pass resumes if this one stops here.
func (w *walk) take() []listedItem {
	if !w.waiting {
		return nil
	}
	items, seen := w.items, w.seen
	for i := range items {
		items[i].list = &w.cursor
	}
	w.items, w.seen, w.waiting = nil, nil, false
	switch at := github.SinceOf(w.next); {
	case w.next == "":
		if w.pagesRead > 1 || !w.cut.IsZero() {
			w.resumesAt = new("")
		}
		w.ended = true
		if w.old && w.pagesRead > 1 { // the changes of one second fill several pages
			w.advance(w.settled.Truncate(time.Second))
		}
	case !at.IsZero():
		if w.advance(at) {
			seen = nil // no walk begins there any more
		}
		w.resumesAt = new(at.UTC().Format(time.RFC3339))
	}
	w.pages = append(w.pages, seen...)
	return items
}

// readPage reads one page with its stored ETag and finds where the next one begins.
func (w *walk) readPage(ctx context.Context, address string) (page, []work.Validator, error) {
	h := w.h
	v := h.known.pages[address]
	p, err := w.read(ctx, transport.PageRequest{URL: address, ETag: v.ETag})
	if err != nil {
		return p, nil, err
	}
	if p.NotModified {
		p.Next = v.Next
		return p, nil, nil
	}
	h.mu.Lock()
	h.brought = true
	h.mu.Unlock()
	full := len(p.Items) >= fullPage
	if n := len(p.Items); n > 0 && (p.Next != "" || full) {
		// GitHub does not document whether "since" includes its own second.
		on := p.Items[n-1].changed.Add(-time.Second)
		if on.After(github.SinceOf(address)) { // else all items are of one second: the next page is asked for by its number
			p.Next = w.address(h.row.Current, on)
		}
	}
	if p.Next == "" && full { // new items begin another page and leave this one unchanged
		p.Next, err = github.NextPage(address)
	}
	return p, []work.Validator{{RepoID: h.row.ID, URL: address, ETag: p.ETag, Next: p.Next, SeenAt: w.asked}}, err
}

// fullPage is the most items that a page of a list has. Items after a full page leave it and its
// ETag unchanged, so its next page is read even before anything is on it.
const fullPage = 100

// newestOf returns the newest change read. For an unchanged page that is where the next one begins.
func (w *walk) newestOf(p page) time.Time {
	so := w.newest
	if at := github.SinceOf(p.Next); at.After(so) {
		so = at
	}
	for _, it := range p.Items {
		if it.changed.After(so) {
			so = it.changed
		}
	}
	return so
}

// cutAt parses where a walk was cut; zero if it was not.
func cutAt(stored string) time.Time {
	at, err := time.Parse(time.RFC3339, stored)
	if err != nil {
		return time.Time{} // none, or a link stored by an older version
	}
	return at
}

// hold makes the next pass's walk begin no later than at a change that was not ingested. This pass
// walks on.
func (c *cursor) hold(at time.Time) {
	before := *c.was
	if before.IsZero() {
		before = *c.since
	}
	if at.Before(before) {
		return // it came from elsewhere and is read there again
	}
	if at.Before(*c.since) {
		*c.since = at
	}
	if c.held.IsZero() || at.Before(c.held) {
		c.held = at
	}
	c.pages = nil
}

// place returns where the next pass resumes the walk; "" at "since". It resumes no later than at the
// held change. If this walk has not got that far, it stores no such place.
func (c *cursor) place(known map[string]string) string {
	at := known[c.name]
	if c.resumesAt != nil {
		at = *c.resumesAt
	}
	meets := at == "" && !c.ended
	if cut := cutAt(at); !c.held.IsZero() && !meets && (cut.IsZero() || c.held.Before(cut)) {
		at = c.held.UTC().Format(time.RFC3339)
	}
	return at
}

// passed reports whether a page is no longer read: "since" moved past its beginning.
func (c *cursor) passed(url string) bool {
	return !c.moved.IsZero() && c.shows(url) && github.SinceOf(url).Before(c.moved)
}

// shows reports whether an address belongs to this walk.
func (c *cursor) shows(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	return strings.HasSuffix(path, "/"+c.name) && !strings.Contains(url, "labels=")
}

// stored resets what was stored with the last slice.
func (c *cursor) stored() { c.pages, c.moved, c.resumesAt = nil, time.Time{}, nil }

// advance moves "since" to where the next page begins, or after the last page to a time at which the
// list was settled, and reports whether it did. It does only if everything before can no longer
// change except by moving to the end. That must hold for that second and the next one, too: they may
// fill the page.
func (w *walk) advance(next time.Time) bool {
	if !w.held.IsZero() && w.held.Before(next) {
		next = w.held
	}
	if w.since == nil || w.behind || next.After(w.asked.Add(-overlap-2*time.Second)) || !next.After(*w.since) {
		return false
	}
	*w.since, w.moved = next, next
	return true
}
