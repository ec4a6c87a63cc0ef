package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
}

// mostInPage is the maximum page size of most listings.
const mostInPage = 100

// ReadPage reads one page of a listing.
func ReadPage[W Plausible, T any](ctx context.Context, c *Client, p PageRequest, convert func(W) T) (Page[T], error) {
	a, err := c.Send(ctx, Call{Method: http.MethodGet, URL: p.URL, ETag: p.ETag})
	if err != nil {
		return Page[T]{}, err
	}
	out := Page[T]{ETag: a.Header.Get("Etag")}
	if link := nextLink(a); link != "" {
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

// ReadAll reads a whole listing of at most MostPages.
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
	}
	return all, nil
}

// nextLink returns the URL of the next page from the Link header. URLs may contain commas, so it looks
// for angle brackets.
func nextLink(a *Answer) string {
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
				if p := strings.TrimSpace(param); p == `rel="next"` || p == "rel=next" {
					return target
				}
			}
			rest = after
		}
	}
	return ""
}
