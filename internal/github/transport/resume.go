// This file lets several passes read a list with more pages than one pass has time for. Each
// pass keeps what it read, and the next one continues from there.
//
// A page is identified only by its number. If an earlier item is deleted, later ones move up, and
// the next page no longer begins where the last one ended. So the last page is read again: if its
// first item is not among the known ones, the page before it is read, too, and so on. Pages before
// that stay as they were read. Items deleted from them since look as if they had been deleted after
// an uninterrupted read. Other changes in them can be requested by time if the list supports it,
// see ChangingList.

package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// KeptPart is the part of a list read so far.
type KeptPart struct {
	Begun time.Time  // when its first page was read
	Same  int        // number of first pages that are stored unchanged
	Pages []KeptPage // the pages after them
}

// KeptPage is one page of a list, stored unchanged for the next pass.
type KeptPage struct {
	URL   string
	Items string // in JSON
}

// Kept stores parts of lists between passes.
type Kept interface {
	// Find returns what an earlier pass read of a list. It does not return what this pass read: a
	// second read wants current data.
	Find(ctx context.Context, list string) (KeptPart, error)
	// Keep stores what was read of a list. why is the error that stopped it, nil if the list is
	// complete. part is called when it is needed.
	Keep(ctx context.Context, list string, part func() (KeptPart, error), why error)
}

type key struct{}

// WithKept returns a context in which lists continue where earlier passes stopped.
func WithKept(ctx context.Context, k Kept) context.Context { return context.WithValue(ctx, key{}, k) }

// PagedList reads a list with items of type W. Without a Kept in the context, it reads from the
// beginning and stores nothing.
type PagedList[W any] struct {
	// Page reads one page and returns the next one's address, "" on the last page.
	Page func(ctx context.Context, address string) (items []W, next string, err error)
	Now  time.Time
}

// PagedItems is a complete list.
type PagedItems[W any] struct {
	Items   []W
	Begun   time.Time // when its first page was read
	Resumed bool      // an earlier pass read a part
}

// All reads a complete list, identified by the address of its first page.
func (l PagedList[W]) All(ctx context.Context, list string) (PagedItems[W], error) {
	return l.from(ctx, list, list)
}

// from reads a complete list from an address on. Stored pages that begin at another address are not
// used.
func (l PagedList[W]) from(ctx context.Context, list, first string) (PagedItems[W], error) {
	r := reading[W]{PagedList: l, list: list, first: first, begun: l.Now}
	r.kept, _ = ctx.Value(key{}).(Kept)
	err := r.read(ctx)
	if r.kept != nil && (len(r.pages) > 1 || r.resumed) {
		r.kept.Keep(ctx, list, r.part, err)
	}
	if err != nil {
		return PagedItems[W]{}, err
	}
	return r.whole(), nil
}

// reading is the state of one From.
type reading[W any] struct {
	PagedList[W]
	kept    Kept
	list    string
	first   string // address of the first page
	pages   []page[W]
	begun   time.Time
	resumed bool
	same    int
}

// page is a decoded page.
type page[W any] struct {
	url   string
	items []W
}

func (r *reading[W]) read(ctx context.Context) error {
	next, err := r.resume(ctx)
	for err == nil && next != "" {
		p := page[W]{url: next}
		if r.has(p.url) {
			return errCircle
		}
		if p.items, next, err = r.Page(ctx, p.url); err == nil {
			r.pages = append(r.pages, p)
		}
	}
	return err
}

// errCircle means that a page names an earlier page as the next one.
var errCircle = errors.New("the listing's pages run in a circle")

func (r *reading[W]) has(url string) bool {
	return slices.ContainsFunc(r.pages, func(p page[W]) bool { return p.url == url })
}

// resume returns the address to continue with; the first page if nothing was stored.
func (r *reading[W]) resume(ctx context.Context) (next string, err error) {
	if err := r.find(ctx); err != nil || len(r.pages) == 0 {
		return r.first, err
	}
	var behind []W // known items from there on
	for {
		last := r.pages[len(r.pages)-1]
		items, next, err := r.Page(ctx, last.url)
		if err != nil {
			return "", err
		}
		behind = slices.Concat(last.items, behind)
		r.pages = r.pages[:len(r.pages)-1]
		r.same = len(r.pages)
		at, err := indexOf(behind, items)
		if err != nil {
			return "", err
		}
		if at < 0 && len(r.pages) > 0 {
			continue
		}
		if at < 0 { // none of its items is known any more
			at, r.begun, r.resumed = 0, r.Now, false
		}
		r.pages = append(r.pages, page[W]{last.url, slices.Concat(behind[:at], items)})
		return next, nil
	}
}

// indexOf returns the last index of a page's first item among known ones, -1 if it is not there.
func indexOf[W any](known, items []W) (int, error) {
	if len(items) == 0 {
		return -1, nil
	}
	first, err := json.Marshal(items[0])
	if err != nil {
		return 0, err
	}
	for i, item := range slices.Backward(known) {
		if one, err := json.Marshal(item); err != nil || bytes.Equal(one, first) {
			return i, err
		}
	}
	return -1, nil
}

// find loads what an earlier pass read.
func (r *reading[W]) find(ctx context.Context) error {
	if r.kept == nil {
		return nil
	}
	part, err := r.kept.Find(ctx, r.list)
	if err != nil || len(part.Pages) == 0 || part.Pages[0].URL != r.first {
		return err
	}
	for _, p := range part.Pages {
		var items []W
		if err := json.Unmarshal([]byte(p.Items), &items); err != nil { // stored by another version
			r.pages = nil
			return nil //nolint:nilerr // it is read from its beginning
		}
		r.pages = append(r.pages, page[W]{p.URL, items})
	}
	r.begun, r.resumed = part.Begun, true
	r.same = len(r.pages)
	return nil
}

// part returns what to store.
func (r *reading[W]) part() (KeptPart, error) {
	out := KeptPart{Begun: r.begun, Same: r.same}
	for _, p := range r.pages[r.same:] {
		items, err := json.Marshal(p.items)
		if err != nil {
			return KeptPart{}, err
		}
		out.Pages = append(out.Pages, KeptPage{p.url, string(items)})
	}
	return out, nil
}

func (r *reading[W]) whole() PagedItems[W] {
	out := PagedItems[W]{Begun: r.begun, Resumed: r.resumed}
	for _, p := range r.pages {
		out.Items = append(out.Items, p.items...)
	}
	return out
}

// lag is how late a list may show a change.
const lag = 5 * time.Minute

// ChangingList is a list whose items change and that can be requested by time of change.
type ChangingList[W any] struct {
	PagedList[W]
	Address func(since time.Time) string
	ID      func(W) int64
}

// Since reads the items that changed since a time. If several passes were needed, it reads again
// what changed since the first of them began, until one pass suffices.
func (c ChangingList[W]) Since(ctx context.Context, since time.Time) ([]W, error) {
	var all []W
	for {
		read, err := c.All(ctx, c.Address(since))
		if err != nil {
			return nil, err
		}
		all = append(all, read.Items...)
		if !read.Resumed {
			return c.newest(all), nil
		}
		since = read.Begun.Add(-lag)
	}
}

// newest returns the last read state of each item, oldest first. An item may be read twice: an edit
// puts it among the later changes and moves others up.
func (c ChangingList[W]) newest(all []W) []W {
	seen := map[int64]bool{}
	var out []W
	for _, w := range slices.Backward(all) {
		if id := c.ID(w); !seen[id] {
			seen[id] = true
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b W) int { return cmp.Compare(c.ID(a), c.ID(b)) })
	return out
}
