package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Walk is one of the lists that a pass reads: oldest change first, from a moment
// on that stays where it is, so that the URL keeps its ETag.
//
// What changes while a list is walked moves to its end, and everything behind it
// one place up. So no page is asked for by its number: the next one begins where
// the last one ended, by time. Where a walk was cut is such a moment too, and
// nothing that moved in the time between is passed over.
//
// It is walked page by page: fetch reads one, take takes it in. Only then is a cursor
// stored that is past it.
type walk[T any] struct {
	h *reading
	cursor
	address func(work.RepoName, time.Time) string
	list    func(context.Context, transport.PageRequest) (transport.Page[T], error)
	updated func(T) time.Time

	cut     time.Time // where an earlier pass stopped
	front   front     // where the last one ended
	behind  bool      // it did not begin at "since"
	first   string    // the address where this one begins; empty: it has not begun
	last    string    // of the page that was read last
	asked   time.Time // when that was
	next    string    // of the next page; empty at the end
	newest  time.Time
	read    int  // pages that this pass read
	stopped bool // there is no time for more

	page    []T // read, and not taken in
	seen    []work.Validator
	waiting bool // there is a page
}

// cursor is how far a walk came: what is stored of it with a slice.
type cursor struct {
	name  string
	since *time.Time // in the row with moved cursors; nil: from the beginning, once
	was   *time.Time // the same, as it is stored

	held  time.Time // the oldest change that it showed and that was not taken in
	ended bool      // it was taken in to its end

	// Since the last slice was stored.
	pages      []work.Validator // that were taken in
	moved      time.Time        // "since" moved to there: the validators before it go
	resumesAt  *string          // where the next pass resumes the walk; empty: nowhere, it came to the end
	nextBegins *string          // where the next pass may begin, as a front
}

// The names of the walks in the database.
const (
	walkIssues         = "issues"
	walkComments       = "comments"
	walkReviewComments = "review_comments"
	walkLabel          = "label " // and the label: its first sight
	walkPauses         = "pauses" // no walk: stored while events wait for the end of a pause
)

// begin finds where to begin: where the last walk was cut, else behind what it read if that
// is young, else where "since" stands.
func (w *walk[T]) begin() {
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

// fetch reads the next page with its own ETag: page 1 unchanged does not prove page 2
// unchanged. It does nothing while a page waits to be taken in, and none at the end.
func (w *walk[T]) fetch(ctx context.Context) error {
	if w.first == "" {
		w.begin()
	}
	if w.waiting || w.over() {
		return nil
	}
	w.last, w.asked = w.next, w.h.now()
	page, seen, err := w.readPage(ctx, w.last)
	if err == nil && w.read == 0 && w.last != w.first && !page.NotModified {
		w.last = w.first
		page, seen, err = w.readPage(ctx, w.last)
	}
	if github.OutOfTime(err) {
		w.stopped = true
		w.h.stopReading(err)
		return nil
	}
	if err != nil {
		return err
	}
	w.page, w.seen, w.waiting, w.next = page.Items, seen, true, page.Next
	w.newest = w.newestOf(page)
	w.read++
	return nil
}

// items is the page that waits to be taken in.
func (w *walk[T]) items() []T { return w.page }

// waits reports whether a page waits to be taken in.
func (w *walk[T]) waits() bool { return w.waiting }

// through reports whether the list was taken in to its end.
func (w *walk[T]) through() bool { return w.first != "" && w.next == "" && !w.waiting }

// over reports whether there is no more to read in this pass.
func (w *walk[T]) over() bool { return w.stopped || w.first != "" && w.next == "" }

// at is how far the walk came.
func (w *walk[T]) at() time.Time { return w.newest }

// take takes the page that waits into the slice, with what vouches for it: where the next
// pass resumes if this one stops here.
func (w *walk[T]) take() []T {
	if !w.waiting {
		return nil
	}
	items, seen := w.page, w.seen
	w.page, w.seen, w.waiting = nil, nil, false
	switch at := github.SinceOf(w.next); {
	case w.next == "":
		if w.read > 1 || !w.cut.IsZero() {
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

// readPage reads one page with the ETag that is stored for it, and says where the next
// one begins.
func (w *walk[T]) readPage(ctx context.Context, address string) (transport.Page[T], []work.Validator, error) {
	h := w.h
	v := h.known.pages[address]
	page, err := w.list(ctx, transport.PageRequest{URL: address, ETag: v.ETag})
	if err != nil {
		return page, nil, err
	}
	if page.NotModified {
		page.Next = v.Next
		if v.Next != "" && !settledBy(v, v.SeenAt) && settledBy(v, w.asked) && github.SinceOf(v.Next).Equal(github.SinceOf(v.URL)) {
			v.SeenAt = w.asked
			return page, []work.Validator{v}, nil
		}
		return page, nil, nil
	}
	h.mu.Lock()
	h.brought = true
	h.mu.Unlock()
	full := len(page.Items) >= fullPage
	if n := len(page.Items); n > 0 && (page.Next != "" || full) {
		// GitHub does not say whether "since" includes its own second.
		on := w.updated(page.Items[n-1]).Add(-time.Second)
		if on.After(github.SinceOf(address)) { // else a page of one second alone: on by its number
			page.Next = w.address(h.row.Current, on)
		}
	}
	if page.Next == "" && full { // what comes next begins another page, and this one is as it was
		page.Next, err = github.NextPage(strings.TrimSuffix(address, behindAll))
		page.Next += behindAll
	}
	return page, []work.Validator{{RepoID: h.row.ID, URL: address, ETag: page.ETag, Next: page.Next, SeenAt: w.asked}}, err
}

// fullPage is how much a page of a list shows at the most. What is listed after a full one
// leaves it as it was, so that it has a next one before there is anything on that.
const fullPage = 100

// behindAll marks the address of a page behind a full one, on which nothing was when that was
// read. While it is empty it does not tell what changes before it: an edit moves to the end of
// the full page. GitHub is not told of it.
const behindAll = "#behind"

// newestOf is the newest change that was read; of a page that is as it was, where the
// next one begins.
func (w *walk[T]) newestOf(page transport.Page[T]) time.Time {
	so := w.newest
	if at := github.SinceOf(page.Next); at.After(so) {
		so = at
	}
	for _, it := range page.Items {
		if u := w.updated(it); u.After(so) {
			so = u
		}
	}
	return so
}

// cutAt reads where a walk was cut.
func cutAt(stored string) time.Time {
	at, err := time.Parse(time.RFC3339, stored)
	if err != nil {
		return time.Time{} // none, or an older program's link
	}
	return at
}

// hold has the walk of the next pass begin no later than at a change that was not taken in.
// This pass walks on.
func (c *cursor) hold(at time.Time) {
	before := *c.was
	if before.IsZero() {
		before = *c.since
	}
	if at.Before(before) {
		return // it came from elsewhere, and is read there again
	}
	if at.Before(*c.since) {
		*c.since = at
	}
	if c.held.IsZero() || at.Before(c.held) {
		c.held = at
	}
	c.pages = nil
}

// places are where the next pass resumes the walk, or may begin it, by the names under which
// that is stored. It resumes no later than at what was held. A walk that did not come that
// far meets it there, unless it begins behind it.
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

// passed reports whether a page is not read any more: "since" moved past where it begins.
func (c *cursor) passed(url string) bool {
	return !c.moved.IsZero() && c.shows(url) && github.SinceOf(url).Before(c.moved)
}

// shows reports whether an address is one of the walk's.
func (c *cursor) shows(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	switch {
	case strings.HasSuffix(path, "/pulls/comments"):
		return c.name == walkReviewComments
	case strings.HasSuffix(path, "/issues/comments"):
		return c.name == walkComments
	}
	return c.name == walkIssues && strings.HasSuffix(path, "/issues") && !strings.Contains(url, "labels=")
}

// stored begins another slice.
func (c *cursor) stored() { c.pages, c.moved, c.resumesAt, c.nextBegins = nil, time.Time{}, nil, nil }

// A walk begins at "since", which moves from page to page, but never past what a list may
// still lack: only over pages that were read when all that stands on them was older than
// the overlap. After many changes at once that are younger there are many pages behind it.
// So that passes do not read all of them again, the next ones begin where the last page
// does, which is the front. What lagged is looked for from "since" on as soon as the
// overlap has passed: those pages have kept their addresses, and so their ETags.

// front is where walks may begin that need not begin at "since", and until when.
type front struct{ at, until time.Time }

// frontOf is the name under which a walk's front is stored.
func frontOf(name string) string { return "front " + name }

// parseFront reads a stored front.
func parseFront(stored string) front {
	at, until, _ := strings.Cut(stored, " ")
	return front{cutAt(at), cutAt(until)}
}

func (f front) String() string {
	return f.at.UTC().Format(time.RFC3339) + " " + f.until.UTC().Format(time.RFC3339)
}

// keepFront keeps where the next walk may begin, once this one came to the end. When all is
// read again was decided by the first walk that left something young behind it.
func (w *walk[T]) keepFront() string {
	next := front{at: github.SinceOf(w.last), until: w.front.until}
	if w.since == nil || !next.at.After(*w.since) {
		return ""
	}
	if !w.behind || next.until.IsZero() {
		next.until = w.h.now().Add(overlap)
	}
	return next.String()
}

// advance moves "since" to where the next page begins, and says whether it did: if what is
// before that cannot change any more but by moving to the end. Neither may what stands in
// that second and the next one: the page may be full of it.
func (w *walk[T]) advance(next time.Time) bool {
	if !w.held.IsZero() && w.held.Before(next) {
		next = w.held
	}
	if w.since == nil || w.behind || next.After(w.asked.Add(-overlap-2*time.Second)) || !next.After(*w.since) {
		return false
	}
	*w.since, w.moved = next, next
	return true
}

// lastOfSecond is the last page that was taken in of those that begin at one second: there
// is nothing but a number to tell them apart. A walk begins there: otherwise a pass that has
// no time for all of them would never get past, and one that has would read all of them for
// nothing. A page that was read when its second was older than the overlap lacks nothing. One
// that was read before may, though those behind it are as they were: it is passed only where
// the second is still young, or a cut walk resumes, and that walk then vouches for nothing.
// A full page is never passed for one behind it that was empty.
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

// settledBy reports whether a page cannot lack anything any more at some time.
func settledBy(page work.Validator, at time.Time) bool {
	return !at.Before(github.SinceOf(page.URL).Add(overlap + 2*time.Second))
}
