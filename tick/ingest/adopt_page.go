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

// The open pull requests are walked page by page, oldest first, and each page is a slice of
// its own. What is stored with it vouches for all up to there: each is tracked, or none of
// ours, or in the backlog, for it alone could not be read. One that is tracked costs
// nothing when it is met again.

// foundAll reports whether all open pull requests were looked at.
func (h *reading) foundAll() bool { return h.known.cuts[work.FirstLookList] == work.FirstLookDone }

// listOpenPage reads the next page of the open pull requests, and of which repository it is.
func (h *reading) listOpenPage(ctx context.Context) (err error) {
	h.adopting, h.search.first, h.search.slowest, h.search.left = true, 0, 0, map[int]bool{}
	h.search.at, _ = h.walkPlace()
	h.search.page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, h.search.at.After)
	if e, refused := errors.AsType[*transport.Error](err); refused && h.search.at.After != "" && strings.Contains(e.Type, "CURSOR") {
		h.search.at = work.FirstLook{} // GitHub does not know its own mark any more: what is tracked costs nothing
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

// walkOn has the walk go on behind the page, once it is stored.
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

// vouch decides, once the page is judged, whether the walk resumes behind it. Where there
// was no time for all of it, it is read again in the next pass. One for which the time of
// a whole pass is too short, with nothing found beside it, is for the backlog: it holds up
// no other.
func (h *reading) vouch() {
	if h.incomplete == nil {
		h.search.pages++
		return
	}
	h.walkAgain()
	clear(h.backlog)
	slowest := cmp.Or(h.search.slowest, h.search.first) // what was read of several may hang for any of them
	if h.search.pages == 0 && h.countRead() == 0 && slowest != 0 && errors.Is(h.incomplete, context.DeadlineExceeded) {
		h.backlog[slowest] = true
	}
}

// walkAgain has the walk go on at the page once more. That much of it was looked at is for people.
func (h *reading) walkAgain() {
	delete(h.cuts, work.FirstLookList)
	if len(h.search.page.Pulls) == 0 {
		return // it was not read
	}
	at := work.FirstLook{After: h.search.at.After, Seen: h.search.at.Seen, All: h.search.page.All}
	for _, p := range h.search.page.Pulls {
		if !h.search.left[p.Number] && !h.forgotten[p.Number] {
			at.Part++
		}
	}
	h.setWalk(at.String())
}

// walkPlace is how far the walk came, if it is under way.
func (h *reading) walkPlace() (at work.FirstLook, underWay bool) {
	return work.ParseFirstLook(h.known.cuts[work.FirstLookList])
}

// historiesAtOnce is how many queries are under way at a time.
const historiesAtOnce = 10

// authorsAtOnce is for how many pull requests in advance the authors of issues are asked about.
const authorsAtOnce = 8

// readAhead reads what is needed of all of a page, and of their issues, side by side. What
// it does not bring is asked for singly. The details come after the light queries: what
// changes between the two is seen by the next ones.
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

// takeFoundDetails takes in what was read of one that was found again. Without that it counts as
// not found: see dropHalf.
func (h *reading) takeFoundDetails(ctx context.Context, number int) error {
	d, read := h.search.details[number]
	if _, adopted := h.adopted[number]; !adopted || !read {
		return nil
	}
	delete(h.search.details, number)
	return h.takeDetails(ctx, d)
}

// prefetchAuthor asks in advance what the author of an issue may do, whose text it may be.
func (h *reading) prefetchAuthor(ctx context.Context, p foundPull) {
	if is, known := h.history.Issues[p.issue]; known {
		h.permissions.prefetch(ctx, is.Author, is.UpdatedAt)
	}
}

// prefetchPull asks in advance for what the answers about many did not bring of one, for they
// bring no long history.
func (h *reading) prefetchPull(ctx context.Context, p foundPull) {
	if _, ours := h.ourPull(p.Pull); !ours {
		return // its commits tell
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
