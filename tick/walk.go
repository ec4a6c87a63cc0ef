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

// walk is one of the lists that a pass reads: oldest change first, from a moment
// on that stays where it is, so that the URL keeps its ETag.
//
// What changes while a list is walked moves to its end, and everything behind it
// one place up. So no page is asked for by its number: the next one begins where
// the last one ended, by time. Where a walk was cut is such a moment too, and
// nothing that moved in the time between is passed over.
type walk[T any] struct {
	name    string
	address func(work.RepoName, time.Time) string
	list    func(context.Context, github.PageRequest) (github.Page[T], error)
	since   *time.Time // in the harvest's repo; nil: from the beginning, once
	updated func(T) time.Time
}

// The names of the walks in the database.
const (
	walkIssues         = "issues"
	walkComments       = "comments"
	walkReviewComments = "review_comments"
	walkLabel          = "label "  // and the label: its first sight
	walkAdopted        = "adopted" // no walk: stored once the open pull requests were looked at
)

// read walks the pages, each with its own ETag: page 1 unchanged does not prove
// page 2 unchanged. It returns false when the walk was cut.
func (w walk[T]) read(ctx context.Context, h *harvest) ([]T, bool, error) {
	var since time.Time
	if w.since != nil {
		if w.since.IsZero() {
			*w.since = h.now().Add(-overlap).Truncate(time.Second)
		}
		since = *w.since
	}
	from := since
	cut := cutAt(h.known.cuts[w.name])
	if cut.After(from) {
		from = cut
	}
	var items []T
	var seen []store.Validator
	newest, pages := from, 0
	for next := w.address(h.repo.Current, from); next != ""; pages++ {
		page, v, err := github.Page[T]{}, []store.Validator(nil), context.DeadlineExceeded
		if pages == 0 || !h.enough() {
			page, v, err = w.page(ctx, h, next)
		}
		if late(err) {
			h.cutWalk(w.name, err, github.SinceOf(next), seen)
			return items, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		items, seen, next = append(items, page.Items...), append(seen, v...), page.Next
		newest = w.newest(newest, page)
	}
	if (pages > 1 || !cut.IsZero()) && w.advance(h, newest) {
		seen = nil // the next walk has other URLs
	}
	ended := map[string]string{}
	if !cut.IsZero() {
		ended[w.name] = ""
	}
	h.walked(w.name, seen, ended)
	return items, true, nil
}

// page reads one page with the ETag that is stored for it, and says where the next
// one begins.
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
	h.mu.Lock()
	h.brought = true
	h.mu.Unlock()
	if page.Next != "" && len(page.Items) > 0 {
		// GitHub does not say whether "since" includes its own second.
		on := w.updated(page.Items[len(page.Items)-1]).Add(-time.Second)
		if on.After(github.SinceOf(address)) { // else a page of one second alone: on by its number
			page.Next = w.address(h.repo.Current, on)
		}
	}
	return page, []store.Validator{{RepoID: h.repo.ID, URL: address, ETag: page.ETag, Next: page.Next, SeenAt: h.now()}}, nil
}

// newest is the newest change that was read; of a page that is as it was, where the
// next one begins.
func (w walk[T]) newest(so time.Time, page github.Page[T]) time.Time {
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

// advance moves "since" after a walk of more than one page, and says whether it
// did. GitHub's lists may lag: what is younger than the overlap is read again.
func (w walk[T]) advance(h *harvest, newest time.Time) bool {
	to := h.now().Add(-overlap).Truncate(time.Second)
	if newest.Before(to) {
		to = newest
	}
	if w.since == nil || !to.After(*w.since) {
		return false
	}
	*w.since = to
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stale = append(h.stale, w.name)
	return true
}

// cutAt reads where a walk was cut.
func cutAt(stored string) time.Time {
	at, err := time.Parse(time.RFC3339, stored)
	if err != nil {
		return time.Time{} // none, or an older program's link
	}
	return at
}

// cutWalk keeps where a walk was cut, and what vouches for what was read.
func (h *harvest) cutWalk(name string, err error, at time.Time, seen []store.Validator) {
	cuts := map[string]string{}
	if !at.IsZero() {
		cuts[name] = at.UTC().Format(time.RFC3339)
	}
	h.walked(name, seen, cuts)
	h.cut(err)
}

// walked keeps what a walk brought besides its items.
func (h *harvest) walked(name string, seen []store.Validator, walks map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pages[name] = append(h.pages[name], seen...)
	maps.Copy(h.walks, walks)
}

// hold has a walk begin no later than at something that was not taken in. before is
// the moment from which on it was read.
func (h *harvest) hold(name string, since *time.Time, before, at time.Time) {
	if before.IsZero() {
		before = *since
	}
	if at.Before(before) {
		return // it came from elsewhere, and is read there again
	}
	if at.Before(*since) {
		*since = at
	}
	if cut := cutAt(h.walks[name]); cut.IsZero() || at.Before(cut) {
		h.walks[name] = at.UTC().Format(time.RFC3339)
	}
	delete(h.pages, name)
}

// late reports whether an error only says that there is no more time or
// allowance now.
func late(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}

func (h *Reading) readIssues(ctx context.Context) (err error) {
	w := walk[github.Issue]{walkIssues, github.IssuesURL, h.r.GitHub.ListIssues, &h.repo.IssuesSince, func(i github.Issue) time.Time { return i.UpdatedAt }}
	h.listedIssues, _, err = w.read(ctx, h.harvest)
	return err
}

func (h *Reading) readComments(ctx context.Context) (err error) {
	w := walk[github.Comment]{walkComments, github.CommentsURL, h.r.GitHub.ListComments, &h.repo.CommentsSince, func(c github.Comment) time.Time { return c.UpdatedAt }}
	h.listedComments, _, err = w.read(ctx, h.harvest)
	return err
}

func (h *Reading) readReviewComments(ctx context.Context) (err error) {
	w := walk[github.ReviewComment]{walkReviewComments, github.ReviewCommentsURL, h.r.GitHub.ListReviewComments, &h.repo.ReviewCommentsSince, func(c github.ReviewComment) time.Time { return c.UpdatedAt }}
	h.reviewComments, _, err = w.read(ctx, h.harvest)
	return err
}
