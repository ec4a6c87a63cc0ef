package ingest

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Reads about one issue do not depend on those about another, and mostly not on each other. So they
// are prefetched for several issues at a time; the answers are judged one by one, in order, as if
// each had been waited for.

const (
	// issuesAhead is how many issues are prefetched at a time.
	issuesAhead = 8
	// answersLast is how long a prefetched answer is used.
	answersLast = 10 * time.Second
)

// prefetch starts the reads that follow the lists: the repository's identity, and the first issues
// and pull requests that changed.
func (h *reading) prefetch(ctx context.Context) {
	if h.doubted() {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.Repository(ctx, h.repo.Name) })
	}
	left := issuesAhead
	for _, w := range h.lists.issues {
		for _, it := range w.items[:min(left, len(w.items))] {
			h.prefetchIssue(ctx, *it.issue)
			left--
		}
	}
	prefetchDetails(ctx, h)
}

// prefetchIssue prefetches the reads about a listed issue, once. An issue that was not listed is
// unknown and skipped.
func (h *reading) prefetchIssue(ctx context.Context, is github.Issue) {
	if is.Number == 0 || is.IsPull || h.prefetched[is.Number] {
		return
	}
	h.prefetched[is.Number] = true
	item, tracked, err := h.item(ctx, is.Number)
	if err != nil || !h.needsMoreReads(item, tracked, is) {
		return
	}
	repo := h.row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.TimelineOf(ctx, repo, is.Number) })
	h.permissions.prefetch(ctx, is.Author, is.UpdatedAt)
	if !tracked {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.CommentsOf(ctx, repo, is.Number, time.Time{}) })
		h.prefetchBranch(ctx, is)
		h.prefetchStart(ctx, is)
	}
}

// prefetchStart prefetches what a turn reads again before its agent starts: where its branch
// begins, and the issue. The answers expire as if the turn had asked. It prefetches for at most as
// many issues as turns may start at once.
func (h *reading) prefetchStart(ctx context.Context, is github.Issue) {
	if h.starts++; h.starts > h.env.Config.Runtime.Workers {
		return
	}
	repo := h.row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.Repository(ctx, repo) })
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.repo.GitHub.Issue(ctx, repo, is.Number) })
}

// authorsAhead is how many authors are prefetched at a time.
const authorsAhead = 8

// authorPrefetch goes over a slice's events ahead of the judging, which is one by one and in order,
// and prefetches the permissions of authors of new comments: authorsAhead at a time, within the
// limits of mayComment.
type authorPrefetch struct {
	*reading
	known map[string]store.KnownEvent // stored before, or judged already
	at    int                         // index of the next event
	met   []int64                     // authors that were prefetched
	going []work.Event                // their events that are not judged yet
}

// judges announces that an event of who is judged next.
func (f *authorPrefetch) judges(ctx context.Context, who work.Account) {
	for ; f.at < len(f.events) && len(f.going) < authorsAhead; f.at++ {
		c := f.events[f.at]
		if f.asksAbout(ctx, c) && f.permissions.prefetchFeed(ctx, c.event, f.going) {
			f.met, f.going = append(f.met, c.event.Author.ID), append(f.going, c.event)
		}
	}
	f.going = slices.DeleteFunc(f.going, func(e work.Event) bool { return e.Author.ID == who.ID })
}

// asksAbout reports whether an event counts only if its author may write here, and the author was
// not prefetched yet.
func (f *authorPrefetch) asksAbout(ctx context.Context, c candidate) bool {
	e := c.event
	if slices.Contains(f.met, e.Author.ID) || c.pending || !e.Kind.Written() || e.Outcome != "" {
		return false
	}
	_, known := f.known[e.Key]
	_, marked := work.ParseMarks(e.Body)
	if known || marked || slices.Contains(f.env.Accounts.Writers(f.repo.Name.Host), e.Author.ID) {
		return false
	}
	theirs, err := f.onForeignPull(ctx, e)
	if theirs || err != nil {
		return false
	}
	waits, err := f.waitsForPull(ctx, c)
	return !waits && err == nil
}
