package ingest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Open pull requests are walked page by page, oldest first; each page is one slice. The cursor
// stored with a page vouches for all pull requests up to there: each is tracked, not ours, or in
// the backlog because it alone could not be read. Meeting a tracked one again costs nothing.

// foundAll reports whether the walk over all open pull requests is done.
func (h *reading) foundAll() bool { return h.known.cuts[work.FirstLookList] == work.FirstLookDone }

// listOpenPage reads the next page of open pull requests. GitHub's answer also shows which
// repository the name belongs to.
func (h *reading) listOpenPage(ctx context.Context) (err error) {
	h.adopting, h.search.first, h.search.slowest, h.search.left = true, 0, 0, map[int]bool{}
	h.search.at, _ = h.walkPlace()
	h.search.page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, h.search.at.After)
	if e, refused := errors.AsType[*transport.Error](err); refused && h.search.at.After != "" && strings.Contains(e.Type, "CURSOR") {
		h.search.at = work.FirstLook{} // GitHub no longer knows its own cursor: begin again, tracked ones cost nothing
		h.search.page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, "")
	}
	if err != nil {
		h.search.page = github.OpenPullsPage{}
		return err
	}
	for _, p := range h.search.page.Pulls {
		h.search.left[p.Number] = true
	}
	h.swept(h.search.page.Repo)
	return nil
}

// walkOn moves the walk's cursor behind the page.
func (h *reading) walkOn() {
	next := work.FirstLookDone
	if h.search.page.Next != "" {
		next = work.FirstLook{After: h.search.page.Next, Seen: h.search.at.Seen + len(h.search.page.Pulls), All: h.search.page.All}.String()
	}
	h.setWalk(next)
}

func (h *reading) setWalk(next string) {
	h.cuts[work.FirstLookList] = next
}

// vouch decides, after the page is judged, whether the walk resumes behind it. A page that time did
// not suffice for is read again in the next pass. If a whole pass is too short for one pull request
// and nothing else was read, that one goes to the backlog, so that it holds up no other.
func (h *reading) vouch() {
	if h.incomplete == nil {
		h.search.pages++
		return
	}
	h.walkAgain()
	clear(h.backlog)
	slowest := cmp.Or(h.search.slowest, h.search.first) // a read of several may hang because of any of them
	if h.search.pages == 0 && h.countRead() == 0 && slowest != 0 && errors.Is(h.incomplete, context.DeadlineExceeded) {
		h.backlog[slowest] = true
	}
}

// walkAgain makes the walk resume at the same page. How much of it was looked at is stored for
// people only.
func (h *reading) walkAgain() {
	delete(h.cuts, work.FirstLookList)
	if len(h.search.page.Pulls) == 0 {
		return // the page was not read
	}
	at := work.FirstLook{After: h.search.at.After, Seen: h.search.at.Seen, All: h.search.page.All}
	for _, p := range h.search.page.Pulls {
		if !h.search.left[p.Number] && !h.forgotten[p.Number] {
			at.Part++
		}
	}
	h.setWalk(at.String())
}

// walkPlace returns how far the walk got. underWay is false if it has not begun or is done.
func (h *reading) walkPlace() (at work.FirstLook, underWay bool) {
	return work.ParseFirstLook(h.known.cuts[work.FirstLookList])
}

const historiesAtOnce = 10

// authorsAtOnce is how many pull requests ahead the permissions of issue authors are prefetched.
const authorsAtOnce = 8

// readAhead reads the details and histories of a page's pull requests and issues side by side. What
// it misses is read singly. Details come after the light queries: a change between the two shows in
// the next light query.
func (h *reading) readAhead(ctx context.Context, ours []foundPull) error {
	h.search.details = map[int]github.PullDetail{}
	var reads, after []func() error
	for group := range slices.Chunk(ours, github.MaxSweep) {
		reads = append(reads, func() error { return h.sweepBatch(ctx, nodeIDs(group)) })
	}
	for group := range slices.Chunk(ours, github.MaxHistories) {
		reads = append(reads, func() error { return h.readHistories(ctx, group) })
	}
	for group := range slices.Chunk(ours, github.MaxDetails) {
		after = append(after, func() error { return h.readFoundDetails(ctx, group) })
	}
	return github.FirstError(append(runAtOnce(historiesAtOnce, reads), runAtOnce(historiesAtOnce, after)...))
}

func nodeIDs(group []foundPull) []string {
	ids := make([]string, len(group))
	for i, p := range group {
		ids[i] = p.NodeID
	}
	return ids
}

func (h *reading) readHistories(ctx context.Context, group []foundPull) error {
	asked := make([]github.PullWithIssue, len(group))
	for i, p := range group {
		asked[i] = github.PullWithIssue{NodeID: p.NodeID, Issue: p.issue}
	}
	read, err := h.repo.GitHub.Histories(ctx, h.row.Current, asked)
	if half := len(group) / 2; err != nil && github.IsItemError(err) && half > 0 { // one that GitHub cannot answer for does not hide the others
		return errors.Join(h.readHistories(ctx, group[:half]), h.readHistories(ctx, group[half:]))
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history.Join(read)
	return nil
}

func (h *reading) readFoundDetails(ctx context.Context, group []foundPull) error {
	read, err := h.fetchDetails(ctx, nodeIDs(group))
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range read {
		h.search.details[d.Number] = d
	}
	return err
}

// takeFoundDetails takes in the details of an adopted pull request. Without them it counts as not
// found: see dropHalf.
func (h *reading) takeFoundDetails(ctx context.Context, number int) error {
	d, read := h.search.details[number]
	if _, adopted := h.adopted[number]; !adopted || !read {
		return nil
	}
	delete(h.search.details, number)
	return h.takeDetails(ctx, d)
}

// prefetchAuthor prefetches the permission of an issue's author: the issue's text may need it.
func (h *reading) prefetchAuthor(ctx context.Context, p foundPull) {
	if is, known := h.history.Issues[p.issue]; known {
		h.permissions.prefetch(ctx, is.Author, is.UpdatedAt)
	}
}

// prefetchPull prefetches what the reads of many at once left out for one pull request: they leave
// out long histories.
func (h *reading) prefetchPull(ctx context.Context, p foundPull) {
	if _, ours := h.ourPull(p.Pull); !ours {
		return // whether it is ours depends on its commits
	}
	repo := h.row.Current
	if _, known := h.history.Issues[p.issue]; !known {
		ahead.Begin(ctx, func(ctx context.Context) { _, _, _ = h.repo.GitHub.Issue(ctx, repo, p.issue) })
	}
	if _, known := h.history.Labels[p.issue]; !known {
		ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.TimelineOf(ctx, repo, p.issue) })
	}
	for _, n := range []int{p.issue, p.Number} {
		if _, known := h.history.Comments[n]; !known {
			ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.CommentsOf(ctx, repo, n, time.Time{}) })
		}
	}
}
