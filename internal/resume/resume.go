// Package resume has a list that has more pages than there is time for be read by several
// passes: what one read of it is kept, and the next one reads on from there.
//
// A page has nothing but its number. When something before it is deleted, all behind that
// moves up, and the next page no longer begins where the last one ended. So the page that was
// read last is read once more: what it begins with is known, or else the page before it is
// read, too, until something is. What was read before that is kept as it was then; what was
// deleted of it since is as if it had been deleted after a list that was read at once. What
// else changed of it can be asked for by time, where a list knows that: see Changing.
package resume

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Part is what was read of a list so far.
type Part struct {
	Begun time.Time // when its first page was read
	Same  int       // so many of its first pages are as they were kept before
	Pages []Page    // those behind them
}

// Page is a page of it, as it was read.
type Page struct {
	URL   string
	Items string // in JSON
}

// Kept is what earlier passes left of lists, and what this one leaves.
type Kept interface {
	// Find gives what an earlier pass read of a list. What this pass read of it is not found: who asks again wants to know again.
	Find(ctx context.Context, list string) (Part, error)
	// Keep keeps what was read of a list. why says why there is more; nil: it was read whole.
	// The part is made when it is needed, and only once.
	Keep(ctx context.Context, list string, part func() (Part, error), why error)
}

type key struct{}

// With is a context in which lists are read on from where earlier passes stopped.
func With(ctx context.Context, k Kept) context.Context { return context.WithValue(ctx, key{}, k) }

// List is how a list is read whose items are W. Without anything kept in the context it is
// read from its beginning, and nothing is left of it.
type List[W any] struct {
	// Page reads one page, and says where the next one is; empty: there is none.
	Page func(ctx context.Context, address string) (items []W, next string, err error)
	Now  time.Time
}

// Read is a whole list.
type Read[W any] struct {
	Items   []W
	Begun   time.Time // when its first page was read
	Resumed bool      // by an earlier pass
}

// All reads a whole list, which is known by the address of its first page.
func (l List[W]) All(ctx context.Context, list string) (Read[W], error) {
	return l.From(ctx, list, list)
}

// From reads a whole list from an address on. What was read from another one is of no use.
func (l List[W]) From(ctx context.Context, list, first string) (Read[W], error) {
	r := reading[W]{List: l, list: list, first: first, begun: l.Now}
	r.kept, _ = ctx.Value(key{}).(Kept)
	err := r.read(ctx)
	if r.kept != nil && (len(r.pages) > 1 || r.resumed) {
		r.kept.Keep(ctx, list, r.part, err)
	}
	if err != nil {
		return Read[W]{}, err
	}
	return r.whole(), nil
}

// reading is a list that is being read.
type reading[W any] struct {
	List[W]
	kept    Kept
	list    string
	first   string // its first page
	pages   []page[W]
	begun   time.Time
	resumed bool
	same    int
}

// page is a page as it is decoded.
type page[W any] struct {
	url   string
	items []W
}

func (r *reading[W]) read(ctx context.Context) error {
	next, err := r.resume(ctx)
	for err == nil && next != "" {
		p := page[W]{url: next}
		if r.has(p.url) {
			return ErrCircle
		}
		if p.items, next, err = r.Page(ctx, p.url); err == nil {
			r.pages = append(r.pages, p)
		}
	}
	return err
}

// ErrCircle says that the next page of one is one before it.
var ErrCircle = errors.New("the listing's pages run in a circle")

func (r *reading[W]) has(url string) bool {
	return slices.ContainsFunc(r.pages, func(p page[W]) bool { return p.url == url })
}

// resume finds the page to go on with: the first one, where nothing was kept.
func (r *reading[W]) resume(ctx context.Context) (next string, err error) {
	if err := r.find(ctx); err != nil || len(r.pages) == 0 {
		return r.first, err
	}
	var behind []W // what was known from there on
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
		if at < 0 { // nothing of it is known any more
			at, r.begun, r.resumed = 0, r.Now, false
		}
		r.pages = append(r.pages, page[W]{last.url, slices.Concat(behind[:at], items)})
		return next, nil
	}
}

// indexOf is where the first item of a page stands among known ones, -1 where it does not.
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

// find takes over what an earlier pass read.
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
		if err := json.Unmarshal([]byte(p.Items), &items); err != nil { // another version kept it
			r.pages = nil
			return nil //nolint:nilerr // it is read from its beginning
		}
		r.pages = append(r.pages, page[W]{p.URL, items})
	}
	r.begun, r.resumed = part.Begun, true
	r.same = len(r.pages)
	return nil
}

// part is what is to be kept of it.
func (r *reading[W]) part() (Part, error) {
	out := Part{Begun: r.begun, Same: r.same}
	for _, p := range r.pages[r.same:] {
		items, err := json.Marshal(p.items)
		if err != nil {
			return Part{}, err
		}
		out.Pages = append(out.Pages, Page{p.url, string(items)})
	}
	return out, nil
}

func (r *reading[W]) whole() Read[W] {
	out := Read[W]{Begun: r.begun, Resumed: r.resumed}
	for _, p := range r.pages {
		out.Items = append(out.Items, p.items...)
	}
	return out
}

// lag is how much later than it happened a list may show a change.
const lag = 5 * time.Minute

// Changing is a list whose items change, and which can be asked for those that did since a
// time.
type Changing[W any] struct {
	List[W]
	Address func(since time.Time) string
	ID      func(W) int64
}

// Since reads what changed since a time. What changed of it while several passes read it is
// read again, until that took one pass alone.
func (c Changing[W]) Since(ctx context.Context, since time.Time) ([]W, error) {
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

// newest are those as they were read last, oldest first. One may be read twice: what is
// edited comes among those that changed since a time, and moves others one place down.
func (c Changing[W]) newest(all []W) []W {
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
