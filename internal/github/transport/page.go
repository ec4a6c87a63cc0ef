package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
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

// ReadAll reads a whole listing.
func ReadAll[W Plausible, T any](ctx context.Context, c *Client, address string, convert func(W) T) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	for address != "" {
		if seen[address] {
			return nil, &BodyError{URL: address, Err: errCircle}
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

// ReadAllResumed reads a whole listing that is sorted oldest first and changes only at its end. It
// resumes where an earlier pass stopped, see PagedList.
func ReadAllResumed[W Plausible, T any](ctx context.Context, c *Client, address string, convert func(W) T) ([]T, error) {
	read, err := listOf[W](c).All(ctx, address)
	return converted(address, read.Items, convert, err)
}

// ReadChanged reads the items of such a listing that changed since a time. Items have ids and may
// change; address returns the URL of the listing of changes.
func ReadChanged[W Plausible, T any](ctx context.Context, c *Client, address func(since time.Time) string, since time.Time, id func(W) int64, convert func(W) T) ([]T, error) {
	items, err := ChangingList[W]{PagedList: listOf[W](c), Address: address, ID: id}.Since(ctx, since)
	return converted(address(since), items, convert, err)
}

func listOf[W Plausible](c *Client) PagedList[W] {
	page := func(ctx context.Context, address string) ([]W, string, error) {
		p, err := ReadPage(ctx, c, PageRequest{URL: address}, func(w W) W { return w })
		return p.Items, p.Next, err
	}
	return PagedList[W]{Page: page, Now: c.Now()}
}

func converted[W, T any](address string, items []W, convert func(W) T, err error) ([]T, error) {
	if errors.Is(err, errCircle) {
		return nil, &BodyError{URL: address, Err: err}
	}
	var all []T
	for _, w := range items {
		all = append(all, convert(w))
	}
	return all, err
}

// nextLink returns the URL of the next page from the Link header. URLs may contain commas, so it
// looks for angle brackets.
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
