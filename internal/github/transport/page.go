package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/ahead"
)

// PageRequest requests one page of a listing, conditionally if it has an ETag.
type PageRequest struct {
	URL  string // relative to the API root ("repos/o/n/issues?…"), or absolute: the Next of a page
	ETag string // of the last answer to this exact URL
}

// Page is one page of a listing. Its ETag covers only its own URL: an unchanged page says nothing
// about the next one.
type Page[T any] struct {
	Items       []T
	ETag        string
	Next        string // absolute; empty on the last page, maybe also on an unchanged one
	NotModified bool
	last        string // the link to the last page; empty if GitHub names none
}

// mostInPage is the maximum page size of most listings.
const mostInPage = 100

// ReadPage reads one page of a listing.
func ReadPage[W Plausible, T any](ctx context.Context, c *Client, p PageRequest, convert func(W) T) (Page[T], error) {
	a, err := c.Send(ctx, Call{Method: http.MethodGet, URL: p.URL, ETag: p.ETag})
	if err != nil {
		return Page[T]{}, err
	}
	out := Page[T]{ETag: a.Header.Get("Etag"), last: pageLink(a, "last")}
	if link := pageLink(a, "next"); link != "" {
		if out.Next, err = c.resolveLink(a.URL, link); err != nil {
			return Page[T]{}, fmt.Errorf("find the next page: %w", err)
		}
	}
	if a.Status == http.StatusNotModified {
		out.NotModified = true
		if out.ETag == "" {
			out.ETag = p.ETag
		}
		return out, nil
	}
	items := make([]W, 0, mostInPage)
	if err := json.Unmarshal(a.Body, &items); err != nil {
		return Page[T]{}, &BodyError{URL: a.URL, Err: err}
	}
	if items == nil {
		return Page[T]{}, &BodyError{URL: a.URL, Err: errors.New("no list")}
	}
	out.Items = make([]T, 0, len(items))
	for i, item := range items {
		if err := item.Check(); err != nil {
			return Page[T]{}, &BodyError{URL: a.URL, Err: fmt.Errorf("item %d: %w", i, err)}
		}
		out.Items = append(out.Items, convert(item))
	}
	return out, nil
}

// errCircle means that a page names an earlier page as the next one.
var errCircle = errors.New("the listing's pages run in a circle")

// MostPages is how many pages of one listing are read at a time; more than GitHub shows of any that
// is read whole.
const MostPages = 300

// errEndless means that a listing always names a next page.
var errEndless = fmt.Errorf("the listing has more than %d pages", MostPages)

// ReadAll reads a whole listing of at most MostPages. With a context in which reads can be prefetched, the pages after
// the first are requested side by side.
func ReadAll[W Plausible, T any](ctx context.Context, c *Client, address string, convert func(W) T) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	for address != "" {
		if seen[address] {
			return nil, &BodyError{URL: address, Err: errCircle}
		}
		if len(seen) == MostPages {
			return nil, &BodyError{URL: address, Err: errEndless}
		}
		seen[address] = true
		p, err := ReadPage(ctx, c, PageRequest{URL: address}, convert)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		address = p.Next
		for _, later := range pagesFrom(p.Next, p.last) {
			ahead.Begin(ctx, func(ctx context.Context) { _, _ = c.Send(ctx, Call{Method: http.MethodGet, URL: later}) })
		}
	}
	return all, nil
}

// pagesAtOnce is how many pages of a listing are requested side by side.
const pagesAtOnce = 8

// pageParam finds the number of a page in its link.
var pageParam = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([?&]page=)(\d+)`) })

// pagesFrom returns the addresses of the next pages of a listing; none if its pages have no
// numbers.
func pagesFrom(next, last string) (addresses []string) {
	first := pageNumber(next)
	if first == 0 {
		return nil
	}
	for n := first; n <= min(pageNumber(last), first+pagesAtOnce-1); n++ {
		addresses = append(addresses, pageParam().ReplaceAllString(next, "${1}"+strconv.Itoa(n)))
	}
	return addresses
}

// pageNumber returns the number of the page that a link is to; 0 if it has none.
func pageNumber(link string) int {
	m := pageParam().FindStringSubmatch(link)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[2])
	if err != nil {
		return 0
	}
	return n
}

// pageLink returns the URL of a page, such as the next, from the Link header. URLs may contain
// commas, so it looks for angle brackets.
func pageLink(a *Answer, rel string) string {
	for _, rest := range a.Header.Values("Link") {
		for {
			_, after, ok := strings.Cut(rest, "<")
			if !ok {
				break
			}
			target, after, ok := strings.Cut(after, ">")
			if !ok {
				break
			}
			params, after, _ := strings.Cut(after, ",")
			for param := range strings.SplitSeq(params, ";") {
				if p := strings.TrimSpace(param); p == `rel="`+rel+`"` || p == "rel="+rel {
					return target
				}
			}
			rest = after
		}
	}
	return ""
}
