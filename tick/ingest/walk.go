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
// fetch reads a page, take takes it in. Only then is a cursor past the page stored.
type walk struct {
	h *reading
	cursor
	address func(work.RepoName, time.Time) string
	read    func(context.Context, transport.PageRequest) (page, error)

	cut       time.Time // where an earlier pass stopped
	front     front     // where the walk of an earlier pass ended
	behind    bool      // it did not begin at "since"
	first     string    // the address where this one begins; empty if it has not begun
	last      string    // of the page that was read last
	asked     time.Time // when that page was read
	next      string    // address of the next page; empty at the end
	newest    time.Time
	pagesRead int  // that this pass read
	stopped   bool // there is no time for more

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
	pages      []work.Validator // pages that were ingested
	moved      time.Time        // "since" moved to this time; validators of earlier pages are dropped
	resumesAt  *string          // where the next pass resumes the walk; "" if it came to the end
	nextBegins *string          // where the next pass may begin; stored under the name of frontOf
}

// Names of stored walks, in addition to the names of the lists of all changes.
const (
	walkLabel  = "label " // followed by the label: its first listing
	walkPauses = "pauses" // no walk: stored while events wait for the end of a pause
)

// begin finds where to begin: where the last walk was cut, else behind the pages it read if they
// are young, else at "since".
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
	w.cut, w.front = cutAt(h.known.cuts[w.name]), parseFront(h.known.cuts[frontOf(w.name)])
	if now := h.now(); w.cut.After(now) || w.front.at.After(now) {
		w.cut, w.front = time.Time{}, front{}
	}
	switch {
	case w.cut.After(from):
		from = w.cut
	case w.cut.IsZero() && w.front.at.After(from) && h.now().Before(w.front.until):
		from = w.front.at
	}
	w.newest, w.first = from, w.address(h.row.Current, from)
	hurried := !w.cut.IsZero() || !settledBy(work.Validator{URL: w.first}, h.now())
	next, lacks := lastOfSecond(h.known.pages, w.first, hurried)
	w.next, w.behind = next, lacks || from.After(since)
}

// fetch reads the next page with its own ETag: an unchanged page 1 does not prove that page 2 is
// unchanged. It does nothing at the end or while a page waits to be ingested.
func (w *walk) fetch(ctx context.Context) error {
	if w.first == "" {
		w.begin()
	}
	if w.waiting || w.over() {
		return nil
	}
	w.last, w.asked = w.next, w.h.now()
	got, seen, err := w.readPage(ctx, w.last)
	if err == nil && w.pagesRead == 0 && w.last != w.first && !got.NotModified {
		w.last = w.first
		got, seen, err = w.readPage(ctx, w.last)
	}
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
	w.pagesRead++
	return nil
}

// through reports whether the list was ingested to its end.
func (w *walk) through() bool { return w.first != "" && w.next == "" && !w.waiting }

// over reports whether this pass has nothing more to read.
func (w *walk) over() bool { return w.stopped || w.first != "" && w.next == "" }

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
			w.resumesAt, w.nextBegins = new(""), new(w.keepFront())
		}
		w.ended = true
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
		if v.Next != "" && !settledBy(v, v.SeenAt) && settledBy(v, w.asked) && github.SinceOf(v.Next).Equal(github.SinceOf(v.URL)) {
			v.SeenAt = w.asked
			return p, []work.Validator{v}, nil
		}
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
		p.Next, err = github.NextPage(strings.TrimSuffix(address, behindAll))
		p.Next += behindAll
	}
	return p, []work.Validator{{RepoID: h.row.ID, URL: address, ETag: p.ETag, Next: p.Next, SeenAt: w.asked}}, err
}

// fullPage is the most items that a page of a list has. Items after a full page leave it and its
// ETag unchanged, so its next page is read even before anything is on it.
const fullPage = 100

// behindAll marks the address of a page that was empty when read, behind a full one. While it stays
// empty it does not show changes before it: an edit moves to the end of the full page. The mark is
// not sent to GitHub.
const behindAll = "#behind"

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

// places returns where the next pass resumes the walk, or may begin it, by the names under which it
// is stored. The next pass resumes no later than at the held change. If this walk has not got that
// far, it stores no such place, unless it begins behind the change.
func (c *cursor) places(known map[string]string) map[string]string {
	at := known[c.name]
	if c.resumesAt != nil {
		at = *c.resumesAt
	}
	meets := at == "" && !c.ended && known[frontOf(c.name)] == ""
	if cut := cutAt(at); !c.held.IsZero() && !meets && (cut.IsZero() || c.held.Before(cut)) {
		at = c.held.UTC().Format(time.RFC3339)
	}
	places := map[string]string{c.name: at}
	if c.nextBegins != nil {
		places[frontOf(c.name)] = *c.nextBegins
	}
	return places
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
func (c *cursor) stored() { c.pages, c.moved, c.resumesAt, c.nextBegins = nil, time.Time{}, nil, nil }

// A walk begins at "since", which moves from page to page, but only over pages that were read when
// everything on them was older than the overlap: a list may lag by that much. After many changes at
// once, many younger pages follow it. So that passes do not read all of them again, the next ones
// begin at the last page, the front. Lagging items are looked for from "since" on once the overlap
// has passed: those pages kept their addresses, and so their ETags.

// front is where walks may begin instead of at "since", and until when.
type front struct{ at, until time.Time }

// frontOf is the name under which a walk's front is stored.
func frontOf(name string) string { return "front " + name }

func parseFront(stored string) front {
	at, until, _ := strings.Cut(stored, " ")
	return front{cutAt(at), cutAt(until)}
}

func (f front) String() string {
	return f.at.UTC().Format(time.RFC3339) + " " + f.until.UTC().Format(time.RFC3339)
}

// keepFront returns where the next walk may begin after this one came to the end. The first walk
// that left young pages behind the front sets when all of them are read again.
func (w *walk) keepFront() string {
	next := front{at: github.SinceOf(w.last), until: w.front.until}
	if w.since == nil || !next.at.After(*w.since) {
		return ""
	}
	if !w.behind || next.until.IsZero() {
		next.until = w.h.now().Add(overlap)
	}
	return next.String()
}

// advance moves "since" to where the next page begins, and reports whether it did. It does only if
// everything before can no longer change except by moving to the end. That must hold for that
// second and the next one, too: they may fill the page.
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

// lastOfSecond returns the last known page of those that begin at one second and differ by number
// only. A walk begins there: otherwise a pass without time for all of them would never get past,
// and one with time would read all of them for nothing. A page read when its second was older than
// the overlap is complete. One read before may lack items though the pages behind it are unchanged:
// it is passed only while the second is young or when a cut walk resumes, and that walk then
// vouches for nothing (lacks). A walk never moves on from a full page to an empty page behind it.
func lastOfSecond(pages map[string]work.Validator, address string, hurried bool) (last string, lacks bool) {
	for range pages {
		v := pages[address]
		if v.Next == "" || strings.HasSuffix(v.Next, behindAll) || !github.SinceOf(v.Next).Equal(github.SinceOf(address)) {
			break
		}
		if !settledBy(v, v.SeenAt) {
			if !hurried {
				break
			}
			lacks = true
		}
		address = v.Next
	}
	return address, lacks
}

// settledBy reports whether a page is complete if it is read at that time.
func settledBy(page work.Validator, at time.Time) bool {
	return !at.Before(github.SinceOf(page.URL).Add(overlap + 2*time.Second))
}
