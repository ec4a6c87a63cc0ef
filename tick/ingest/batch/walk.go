package batch

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
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
// It is walked page by page: Fetch reads one, Take takes it in. Only then is a cursor
// stored that is past it.
type Walk[T any] struct {
	Name    string
	Address func(work.RepoName, time.Time) string
	List    func(context.Context, github.PageRequest) (github.Page[T], error)
	Since   *time.Time // in the batch's repo; nil: from the beginning, once
	Updated func(T) time.Time

	cut     time.Time // where an earlier pass stopped
	front   front     // where the last one ended
	behind  bool      // it did not begin at "since"
	first   string    // the address where this one begins; empty: it has not begun
	last    string    // of the page that was read last
	asked   time.Time // when that was
	next    string    // of the next page; empty at the end
	newest  time.Time
	pages   int  // that this pass read
	stopped bool // there is no time for more

	page  []T // read, and not taken in
	seen  []work.Validator
	waits bool
}

// The names of the walks in the database.
const (
	WalkIssues         = "issues"
	WalkComments       = "comments"
	WalkReviewComments = "review_comments"
	WalkLabel          = "label " // and the label: its first sight
	WalkPauses         = "pauses" // no walk: stored while events wait for the end of a pause
)

// begin finds where to begin: where the last walk was cut, else behind what it read if that
// is young, else where "since" stands.
func (w *Walk[T]) begin(h *Batch) {
	var since time.Time
	if w.Since != nil {
		if w.Since.IsZero() || w.Since.After(h.Now()) { // the host's clock was ahead for a while
			*w.Since = h.Now().Add(-Overlap).Truncate(time.Second)
		}
		since = *w.Since
	}
	from := since
	w.cut, w.front = cutAt(h.Known.Cuts[w.Name]), parseFront(h.Known.Cuts[frontOf(w.Name)])
	if now := h.Now(); w.cut.After(now) || w.front.at.After(now) {
		w.cut, w.front = time.Time{}, front{}
	}
	switch {
	case w.cut.After(from):
		from = w.cut
	case w.cut.IsZero() && w.front.at.After(from) && h.Now().Before(w.front.until):
		from = w.front.at
	}
	w.newest, w.first = from, w.Address(h.Repo.Current, from)
	hurried := !w.cut.IsZero() || !settledBy(work.Validator{URL: w.first}, h.Now())
	next, lacks := lastOfSecond(h.Known.Pages, w.first, hurried)
	w.next, w.behind = next, lacks || from.After(since)
}

// Fetch reads the next page with its own ETag: page 1 unchanged does not prove page 2
// unchanged. It does nothing while a page waits to be taken in, and none at the end.
func (w *Walk[T]) Fetch(ctx context.Context, h *Batch) error {
	if w.first == "" {
		w.begin(h)
	}
	if w.waits || w.Over() {
		return nil
	}
	w.last, w.asked = w.next, h.Now()
	page, seen, err := w.read(ctx, h, w.last)
	if err == nil && w.pages == 0 && w.last != w.first && !page.NotModified {
		w.last = w.first
		page, seen, err = w.read(ctx, h, w.last)
	}
	if OutOfTime(err) {
		w.stopped = true
		h.StopReading(err)
		return nil
	}
	if err != nil {
		return err
	}
	w.page, w.seen, w.waits, w.next = page.Items, seen, true, page.Next
	w.newest = w.newestOf(page)
	w.pages++
	return nil
}

// Items is the page that waits to be taken in.
func (w *Walk[T]) Items() []T { return w.page }

// Waits reports whether a page waits to be taken in.
func (w *Walk[T]) Waits() bool { return w.waits }

// Through reports whether the list was taken in to its end.
func (w *Walk[T]) Through() bool { return w.first != "" && w.next == "" && !w.waits }

// Over reports whether there is no more to read in this pass.
func (w *Walk[T]) Over() bool { return w.stopped || w.first != "" && w.next == "" }

// At is how far the walk came.
func (w *Walk[T]) At() time.Time { return w.newest }

// Take takes the page that waits into the slice, with what vouches for it: where the next
// pass resumes if this one stops here.
func (w *Walk[T]) Take(h *Batch) []T {
	if !w.waits {
		return nil
	}
	items, seen, cuts := w.page, w.seen, map[string]string{}
	w.page, w.seen, w.waits = nil, nil, false
	switch at := github.SinceOf(w.next); {
	case w.next == "":
		if w.pages > 1 || !w.cut.IsZero() {
			cuts[w.Name], cuts[frontOf(w.Name)] = "", w.keepFront(h)
		}
		h.ended[w.Name] = true
	case !at.IsZero():
		if w.advance(h, at) {
			seen = nil // no walk begins there any more
		}
		cuts[w.Name] = at.UTC().Format(time.RFC3339)
	}
	h.Walked(w.Name, seen, cuts)
	return items
}

// read reads one page with the ETag that is stored for it, and says where the next
// one begins.
func (w *Walk[T]) read(ctx context.Context, h *Batch, address string) (github.Page[T], []work.Validator, error) {
	v := h.Known.Pages[address]
	page, err := w.List(ctx, github.PageRequest{URL: address, ETag: v.ETag})
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
	h.Mu.Lock()
	h.Brought = true
	h.Mu.Unlock()
	full := len(page.Items) >= fullPage
	if n := len(page.Items); n > 0 && (page.Next != "" || full) {
		// GitHub does not say whether "since" includes its own second.
		on := w.Updated(page.Items[n-1]).Add(-time.Second)
		if on.After(github.SinceOf(address)) { // else a page of one second alone: on by its number
			page.Next = w.Address(h.Repo.Current, on)
		}
	}
	if page.Next == "" && full { // what comes next begins another page, and this one is as it was
		page.Next, err = github.NextPage(strings.TrimSuffix(address, behindAll))
		page.Next += behindAll
	}
	return page, []work.Validator{{RepoID: h.Repo.ID, URL: address, ETag: page.ETag, Next: page.Next, SeenAt: w.asked}}, err
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
func (w *Walk[T]) newestOf(page github.Page[T]) time.Time {
	so := w.newest
	if at := github.SinceOf(page.Next); at.After(so) {
		so = at
	}
	for _, it := range page.Items {
		if u := w.Updated(it); u.After(so) {
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

// Walked keeps what a walk brought besides its items.
func (h *Batch) Walked(name string, seen []work.Validator, walks map[string]string) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Pages[name] = append(h.Pages[name], seen...)
	maps.Copy(h.Walks, walks)
}

// Hold has a walk of the next pass begin no later than at something that was not taken
// in. before is the moment from which on it was read. This pass walks on.
func (h *Batch) Hold(name string, since *time.Time, before, at time.Time) {
	if before.IsZero() {
		before = *since
	}
	if at.Before(before) {
		return // it came from elsewhere, and is read there again
	}
	if at.Before(*since) {
		*since = at
	}
	if held, some := h.held[name]; !some || at.Before(held) {
		h.held[name] = at
	}
	delete(h.Pages, name)
}

// cutOf is where the next pass has to go on with a walk: where this one is, or before,
// at the oldest of what was held. A walk that did not come that far meets it there, unless
// it begins behind it.
func (h *Batch) cutOf(name string) string {
	so, moved := h.Walks[name]
	if !moved {
		so = h.Known.Cuts[name]
	}
	held := h.held[name]
	if held.IsZero() || so == "" && !h.ended[name] && h.Known.Cuts[frontOf(name)] == "" {
		return so
	}
	if cut := cutAt(so); cut.IsZero() || held.Before(cut) {
		return held.UTC().Format(time.RFC3339)
	}
	return so
}

// OutOfTime reports whether an error only says that there is no more time or
// allowance now.
func OutOfTime(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}
