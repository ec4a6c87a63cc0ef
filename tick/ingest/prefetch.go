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

// What is asked about one issue does not depend on what is asked about another, and most of
// it not on one another. So it is asked in advance, for some of them at a time; what comes
// of it is decided one by one, in order, as if each answer had been waited for.

const (
	// issuesAhead is how many issues are asked about at a time.
	issuesAhead = 8
	// answersLast is how long an answer to that stands.
	answersLast = 10 * time.Second
)

// prefetch asks what comes next, once the lists are there: who the repository is, and about
// the first that changed.
func (h *reading) prefetch(ctx context.Context) {
	if h.doubted() {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.Repository(ctx, h.repo.Name) })
	}
	left := issuesAhead
	for _, w := range h.lists.issues {
		for _, is := range w.items()[:min(left, len(w.items()))] {
			h.prefetchIssue(ctx, is)
			left--
		}
	}
	prefetchDetails(ctx, h)
}

// prefetchIssue asks about an issue that was listed, once; of one that was not nothing is known.
func (h *reading) prefetchIssue(ctx context.Context, is github.Issue) {
	if is.Number == 0 || is.IsPull || h.prefetched[is.Number] {
		return
	}
	h.prefetched[is.Number] = true
	item, tracked, err := h.item(ctx, is.Number)
	if err != nil || !h.asks(item, tracked, is) {
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

// prefetchStart asks what a turn looks at once more before its agent is asked: where its branch
// begins, and how the issue reads. It stands for as long as it would if the turn had asked,
// and is asked for no more issues than may begin at once.
func (h *reading) prefetchStart(ctx context.Context, is github.Issue) {
	if h.starts++; h.starts > h.env.Config.Runtime.Workers {
		return
	}
	repo := h.row.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.Repository(ctx, repo) })
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.repo.GitHub.Issue(ctx, repo, is.Number) })
}

// authorsAhead is how many people are asked about at a time.
const authorsAhead = 8

// authorPrefetch goes over a slice's events ahead of those who judge them, one by one and in order,
// and asks in advance about the people whose words are new: as many at a time, and no more
// than are asked about at all.
type authorPrefetch struct {
	*reading
	known map[string]store.KnownEvent // what was stored before, or is judged already
	at    int                         // how far it came
	met   []int64                     // who was asked about
	going []work.Event                // and is still to be judged
}

// judges says that somebody's word is judged next.
func (f *authorPrefetch) judges(ctx context.Context, who work.Account) {
	for ; f.at < len(f.events) && len(f.going) < authorsAhead; f.at++ {
		c := f.events[f.at]
		if f.asksAbout(ctx, c) && f.permissions.prefetchFeed(ctx, c.event, f.going) {
			f.met, f.going = append(f.met, c.event.Author.ID), append(f.going, c.event)
		}
	}
	f.going = slices.DeleteFunc(f.going, func(e work.Event) bool { return e.Author.ID == who.ID })
}

// asksAbout reports whether a word counts only if its author may write here, about whom
// nobody was asked yet.
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
	theirs, err := f.onTheirs(ctx, e)
	if theirs || err != nil {
		return false
	}
	waits, err := f.waitsForPull(ctx, c)
	return !waits && err == nil
}
