package tick

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// walk is one of the three lists that every pass reads: newest first, bounded
// by a "since" that stays where it is, so that the URL keeps its ETag.
type walk[T any] struct {
	name    string
	address func(work.RepoName, time.Time) string
	list    func(context.Context, github.PageRequest) (github.Page[T], error)
	since   *time.Time // in the harvest's repo
	updated func(T) time.Time
}

// The names of the walks in the database.
const (
	walkIssues         = "issues"
	walkComments       = "comments"
	walkReviewComments = "review_comments"
	walkAdopted        = "adopted" // no walk: stored once the open pull requests were looked at
)

// read walks the pages, each with its own ETag: page 1 unchanged does not prove
// page 2 unchanged. A walk that is cut stores where it goes on.
func (w walk[T]) read(ctx context.Context, h *harvest) ([]T, error) {
	if w.since.IsZero() {
		*w.since = h.now().Add(-overlap).Truncate(time.Second)
	}
	first := w.address(h.repo.Current, *w.since)
	cut := h.known.cuts[w.name]
	var items []T
	var seen []store.Validator
	pages := 0
	for next := first; next != ""; {
		page, v, err := w.page(ctx, h, next)
		if err != nil {
			if pages == 0 || !late(err) {
				return nil, err
			}
			h.walked(seen, map[string]string{w.name: next})
			return items, nil
		}
		items = append(items, page.Items...)
		seen = append(seen, v...)
		pages++
		next = page.Next
		if pages == 1 && cut != "" {
			next = cut
		}
	}
	if pages > 1 && w.advance(h, first, items) {
		seen = nil // the next walk has other URLs
	}
	ended := map[string]string{}
	if cut != "" {
		ended[w.name] = ""
	}
	h.walked(seen, ended)
	return items, nil
}

// page reads one page with the ETag that is stored for it.
func (w walk[T]) page(ctx context.Context, h *harvest, address string) (github.Page[T], []store.Validator, error) {
	v := h.known.pages[address]
	page, err := w.list(ctx, github.PageRequest{URL: address, ETag: v.ETag})
	if err != nil {
		return page, nil, err
	}
	if page.NotModified {
		page.Next = v.Next
		return page, nil, nil
	}
	return page, []store.Validator{{RepoID: h.repo.ID, URL: address, ETag: page.ETag, Next: page.Next, SeenAt: h.now()}}, nil
}

// advance moves "since" after a walk of more than one page, and says whether
// it did.
func (w walk[T]) advance(h *harvest, first string, items []T) bool {
	var newest time.Time
	for _, it := range items {
		if u := w.updated(it); u.After(newest) {
			newest = u
		}
	}
	to := newest.Add(-overlap)
	if newest.IsZero() || !to.After(*w.since) {
		return false
	}
	*w.since = to
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale = append(h.stale, first)
	return true
}

// walked keeps what a walk brought besides its items.
func (h *harvest) walked(seen []store.Validator, walks map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.validators = append(h.validators, seen...)
	maps.Copy(h.walks, walks)
}

// late reports whether an error only says that there is no more time or
// allowance now.
func late(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}

func (h *harvest) readIssues(ctx context.Context) (err error) {
	w := walk[github.Issue]{walkIssues, github.IssuesURL, h.r.GitHub.ListIssues, &h.repo.IssuesSince, func(i github.Issue) time.Time { return i.UpdatedAt }}
	h.issues, err = w.read(ctx, h)
	return err
}

func (h *harvest) readComments(ctx context.Context) (err error) {
	w := walk[github.Comment]{walkComments, github.CommentsURL, h.r.GitHub.ListComments, &h.repo.CommentsSince, func(c github.Comment) time.Time { return c.UpdatedAt }}
	h.comments, err = w.read(ctx, h)
	return err
}

func (h *harvest) readReviewComments(ctx context.Context) (err error) {
	w := walk[github.ReviewComment]{walkReviewComments, github.ReviewCommentsURL, h.r.GitHub.ListReviewComments, &h.repo.ReviewCommentsSince, func(c github.ReviewComment) time.Time { return c.UpdatedAt }}
	h.reviewComments, err = w.read(ctx, h)
	return err
}
