package ingest

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
)

// What is asked about one issue does not depend on what is asked about another, and most of
// it not on one another. So it is asked in advance, for some of them at a time; what comes
// of it is decided one by one, in order, as if each answer had been waited for.

const (
	// beside is how many issues are asked about at a time.
	beside = 8
	// asked is how long an answer to that stands.
	asked = 10 * time.Second
)

// foresee asks what comes next, once the lists are there: who the repository is, and about
// the first that changed.
func (h *Reading) foresee(ctx context.Context) {
	if h.doubted() {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.Repository(ctx, h.R.Name) })
	}
	left := beside
	for _, w := range h.lists.issues {
		for _, is := range w.Items()[:min(left, len(w.Items()))] {
			h.Issues.foresee(ctx, is)
			left--
		}
	}
	pulls.Foresee(ctx, h.pulls)
}

// foresee asks about an issue that was listed, once; of one that was not nothing is known.
func (h *Issues) foresee(ctx context.Context, is github.Issue) {
	if is.Number == 0 || is.IsPull || h.foreseen[is.Number] {
		return
	}
	h.foreseen[is.Number] = true
	item, tracked, err := h.Item(ctx, is.Number)
	if err != nil || !h.asks(item, tracked, is) {
		return
	}
	repo := h.Repo.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.TimelineOf(ctx, repo, is.Number) })
	h.people.Foresee(ctx, is.Author, is.UpdatedAt)
	if !tracked {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.CommentsOf(ctx, repo, is.Number, time.Time{}) })
		h.rebuild.Foresee(ctx, is)
		h.foreseeStart(ctx, is)
	}
}

// foreseeStart asks what a turn looks at once more before its agent is asked: where its branch
// begins, and how the issue reads. It stands for as long as it would if the turn had asked,
// and is asked for no more issues than may begin at once.
func (h *Issues) foreseeStart(ctx context.Context, is github.Issue) {
	if h.starts++; h.starts > h.P.Config.Runtime.Workers {
		return
	}
	repo := h.Repo.Current
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.Repository(ctx, repo) })
	ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.R.GitHub.Issue(ctx, repo, is.Number) })
}
