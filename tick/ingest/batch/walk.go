package batch

import (
	"context"
	"errors"
	"maps"
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
type Walk[T any] struct {
	Name    string
	Address func(work.RepoName, time.Time) string
	List    func(context.Context, github.PageRequest) (github.Page[T], error)
	Since   *time.Time // in the batch's repo; nil: from the beginning, once
	Updated func(T) time.Time
}

// The names of the walks in the database.
const (
	WalkIssues         = "issues"
	WalkComments       = "comments"
	WalkReviewComments = "review_comments"
	WalkLabel          = "label "  // and the label: its first sight
	WalkAdopted        = "adopted" // no walk: stored once the open pull requests were looked at
)

// Read walks the pages, each with its own ETag: page 1 unchanged does not prove
// page 2 unchanged. It returns false when the walk was cut.
func (w Walk[T]) Read(ctx context.Context, h *Batch) ([]T, bool, error) {
	var since time.Time
	if w.Since != nil {
		if w.Since.IsZero() {
			*w.Since = h.Now().Add(-Overlap).Truncate(time.Second)
		}
		since = *w.Since
	}
	from := since
	cut := cutAt(h.Known.Cuts[w.Name])
	if cut.After(from) {
		from = cut
	}
	var items []T
	var seen []work.Validator
	newest, pages := from, 0
	for next := w.Address(h.Repo.Current, from); next != ""; pages++ {
		page, v, err := github.Page[T]{}, []work.Validator(nil), context.DeadlineExceeded
		if pages == 0 || !h.Enough() {
			page, v, err = w.page(ctx, h, next)
		}
		if OutOfTime(err) {
			h.cutWalk(w.Name, err, github.SinceOf(next), seen)
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
		ended[w.Name] = ""
	}
	h.Walked(w.Name, seen, ended)
	return items, true, nil
}

// page reads one page with the ETag that is stored for it, and says where the next
// one begins.
func (w Walk[T]) page(ctx context.Context, h *Batch, address string) (github.Page[T], []work.Validator, error) {
	v := h.Known.Pages[address]
	page, err := w.List(ctx, github.PageRequest{URL: address, ETag: v.ETag})
	if err != nil {
		return page, nil, err
	}
	if page.NotModified {
		page.Next = v.Next
		return page, nil, nil
	}
	h.Mu.Lock()
	h.Brought = true
	h.Mu.Unlock()
	if page.Next != "" && len(page.Items) > 0 {
		// GitHub does not say whether "since" includes its own second.
		on := w.Updated(page.Items[len(page.Items)-1]).Add(-time.Second)
		if on.After(github.SinceOf(address)) { // else a page of one second alone: on by its number
			page.Next = w.Address(h.Repo.Current, on)
		}
	}
	return page, []work.Validator{{RepoID: h.Repo.ID, URL: address, ETag: page.ETag, Next: page.Next, SeenAt: h.Now()}}, nil
}

// newest is the newest change that was read; of a page that is as it was, where the
// next one begins.
func (w Walk[T]) newest(so time.Time, page github.Page[T]) time.Time {
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

// advance moves "since" after a walk of more than one page, and says whether it
// did. GitHub's lists may lag: what is younger than the overlap is read again.
func (w Walk[T]) advance(h *Batch, newest time.Time) bool {
	to := h.Now().Add(-Overlap).Truncate(time.Second)
	if newest.Before(to) {
		to = newest
	}
	if w.Since == nil || !to.After(*w.Since) {
		return false
	}
	*w.Since = to
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.stale = append(h.stale, w.Name)
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
func (h *Batch) cutWalk(name string, err error, at time.Time, seen []work.Validator) {
	cuts := map[string]string{}
	if !at.IsZero() {
		cuts[name] = at.UTC().Format(time.RFC3339)
	}
	h.Walked(name, seen, cuts)
	h.StopReading(err)
}

// Walked keeps what a walk brought besides its items.
func (h *Batch) Walked(name string, seen []work.Validator, walks map[string]string) {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Pages[name] = append(h.Pages[name], seen...)
	maps.Copy(h.Walks, walks)
}

// Hold has a walk begin no later than at something that was not taken in. before is
// the moment from which on it was read.
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
	if cut := cutAt(h.Walks[name]); cut.IsZero() || at.Before(cut) {
		h.Walks[name] = at.UTC().Format(time.RFC3339)
	}
	delete(h.Pages, name)
}

// OutOfTime reports whether an error only says that there is no more time or
// allowance now.
func OutOfTime(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}
