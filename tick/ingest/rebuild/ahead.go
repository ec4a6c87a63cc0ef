package rebuild

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/adoption"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// atOnce is how many queries are under way at a time.
const atOnce = 10

// authorsAtOnce is for how many pull requests in advance the authors of issues are asked about.
const authorsAtOnce = 8

// readAhead reads what is needed of all of a page, and of their issues, side by side. What
// it does not bring is asked for singly. The details come after the light queries: what
// changes between the two is seen by the next ones.
func (h *Rebuild) readAhead(ctx context.Context, ours []candidate) error {
	h.details = map[int]github.PullDetail{}
	var reads, after []func() error
	for group := range slices.Chunk(ours, github.MaxSweep) {
		reads = append(reads, func() error { return h.pulls.SweepBatch(ctx, nodeIDs(group)) })
	}
	for group := range slices.Chunk(ours, adoption.MaxHistories) {
		reads = append(reads, func() error { return h.readHistories(ctx, group) })
	}
	for group := range slices.Chunk(ours, github.MaxDetails) {
		after = append(after, func() error { return h.readDetails(ctx, group) })
	}
	return batch.FirstError(append(batch.AtOnce(atOnce, reads), batch.AtOnce(atOnce, after)...))
}

func nodeIDs(group []candidate) []string {
	ids := make([]string, len(group))
	for i, p := range group {
		ids[i] = p.NodeID
	}
	return ids
}

func (h *Rebuild) readHistories(ctx context.Context, group []candidate) error {
	asked := make([]adoption.Asked, len(group))
	for i, p := range group {
		asked[i] = adoption.Asked{NodeID: p.NodeID, Issue: p.issue}
	}
	read, err := h.R.Adoption.Histories(ctx, h.Repo.Current, asked)
	if half := len(group) / 2; err != nil && batch.IsItemError(err) && half > 0 { // one that GitHub cannot answer for does not hide the others
		return errors.Join(h.readHistories(ctx, group[:half]), h.readHistories(ctx, group[half:]))
	}
	if err != nil {
		return err
	}
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.History.Join(read)
	return nil
}

func (h *Rebuild) readDetails(ctx context.Context, group []candidate) error {
	read, err := h.pulls.Fetch(ctx, nodeIDs(group))
	h.Mu.Lock()
	defer h.Mu.Unlock()
	for _, d := range read {
		h.details[d.Number] = d
	}
	return err
}

// takeDetails takes in what was read of one that was found again. Without that it counts as
// not found: see batch.DropHalf.
func (h *Rebuild) takeDetails(ctx context.Context, number int) error {
	d, read := h.details[number]
	if _, adopted := h.Adopted[number]; !adopted || !read {
		return nil
	}
	delete(h.details, number)
	return h.pulls.Take(ctx, d)
}

// foreseeAuthor asks in advance what the author of an issue may do, whose text it may be.
func (h *Rebuild) foreseeAuthor(ctx context.Context, p candidate) {
	if is, known := h.History.Issues[p.issue]; known {
		h.people.Foresee(ctx, is.Author, is.UpdatedAt)
	}
}

// foresee asks in advance for what the answers about many did not bring of one, for they
// bring no long history.
func (h *Rebuild) foresee(ctx context.Context, p candidate) {
	if _, ours := h.ourPull(p.Pull); !ours {
		return // its commits tell
	}
	repo := h.Repo.Current
	if _, known := h.History.Issues[p.issue]; !known {
		ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.R.GitHub.Issue(ctx, repo, p.issue) })
	}
	if _, known := h.History.Labels[p.issue]; !known {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.TimelineOf(ctx, repo, p.issue) })
	}
	for _, n := range []int{p.issue, p.Number} {
		if _, known := h.History.Comments[n]; !known {
			ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.R.GitHub.CommentsOf(ctx, repo, n, time.Time{}) })
		}
	}
}
