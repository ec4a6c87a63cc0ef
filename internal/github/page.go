package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// PageRequest asks for one page of a listing, conditionally when it has an
// ETag.
type PageRequest struct {
	URL  string // relative to the API root ("repos/o/n/issues?…"), or absolute: the Next of a page
	ETag string // of the last answer to this very URL
}

// Page is one page of a listing. An ETag vouches for its own URL only: that a
// page is unchanged says nothing about the next one.
type Page[T any] struct {
	Items       []T
	ETag        string
	Next        string // absolute; empty on the last page, and may be empty on an unchanged one
	NotModified bool
}

// IssuesURL lists a repository's issues and pull requests, oldest change first.
func IssuesURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues", since, "state", "all", "sort", "updated", "direction", "asc")
}

// LabelledIssuesURL lists a repository's open issues and pull requests with a
// label, oldest change first.
func LabelledIssuesURL(r work.RepoName, label string, since time.Time) string {
	return listURL(r, "issues", since, "state", "open", "labels", label, "sort", "updated", "direction", "asc")
}

// CommentsURL lists the conversation comments of a repository's issues and
// pull requests, oldest change first.
func CommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues/comments", since, "sort", "updated", "direction", "asc")
}

// ReviewCommentsURL lists the diff comments of a repository's pull requests,
// oldest change first.
func ReviewCommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "pulls/comments", since, "sort", "updated", "direction", "asc")
}

// SinceOf is the moment from which on a list's address shows what changed; zero
// when it shows everything.
func SinceOf(address string) time.Time {
	u, err := url.Parse(address)
	if err != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, u.Query().Get("since"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// listURL builds the first page's address; the others come from its Link. The
// same arguments give the same text, to which an ETag belongs.
func listURL(r work.RepoName, path string, since time.Time, query ...string) string {
	q := url.Values{"per_page": {"100"}}
	for i := 0; i < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	if !since.IsZero() {
		q.Set("since", since.UTC().Format(time.RFC3339))
	}
	return "repos/" + r.FullName() + "/" + path + "?" + q.Encode()
}

// page reads one page of a listing.
func page[W plausible, T any](ctx context.Context, c *Client, p PageRequest, convert func(W) T) (Page[T], error) {
	a, err := c.send(ctx, call{method: http.MethodGet, url: p.URL, etag: p.ETag})
	if err != nil {
		return Page[T]{}, err
	}
	out := Page[T]{ETag: a.header.Get("Etag")}
	if link := nextLink(a); link != "" {
		if out.Next, err = c.resolveLink(a.url, link); err != nil {
			return Page[T]{}, fmt.Errorf("find the next page: %w", err)
		}
	}
	if a.status == http.StatusNotModified {
		out.NotModified = true
		if out.ETag == "" {
			out.ETag = p.ETag
		}
		return out, nil
	}
	var items []W
	if err := json.Unmarshal(a.body, &items); err != nil {
		return Page[T]{}, &BodyError{URL: a.url, Err: err}
	}
	if items == nil {
		return Page[T]{}, &BodyError{URL: a.url, Err: errors.New("no list")}
	}
	for i, item := range items {
		if err := item.check(); err != nil {
			return Page[T]{}, &BodyError{URL: a.url, Err: fmt.Errorf("item %d: %w", i, err)}
		}
		out.Items = append(out.Items, convert(item))
	}
	return out, nil
}

// every reads a whole listing.
func every[W plausible, T any](ctx context.Context, c *Client, address string, convert func(W) T) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	for address != "" {
		if seen[address] {
			return nil, &BodyError{URL: address, Err: errors.New("the listing's pages run in a circle")}
		}
		seen[address] = true
		p, err := page(ctx, c, PageRequest{URL: address}, convert)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		address = p.Next
	}
	return all, nil
}

// nextLink is the address of the next page, of the Link header. An address
// may hold commas, so links are found by their angle brackets.
func nextLink(a *answer) string {
	for _, rest := range a.header.Values("Link") {
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
