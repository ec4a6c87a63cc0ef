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

// Open pull requests are walked page by page, oldest first; each page is one slice. A page is
// stored with a cursor. Every pull request before that cursor is tracked, is not ours, or is in the
// backlog because GitHub did not let it be read. A tracked pull request that is met again costs
// nothing.

// search is the walk over all open pull requests that finds ours after the database was lost.
type search struct {
	at      work.FirstLook       // how far the walk got
	page    github.OpenPullsPage // the page being ingested
	details map[int]github.PullDetail
	left    map[int]bool // pull requests on the page not looked at yet
	first   int          // the first on the page that may be ours; 0 if none
	slowest int          // the first on the page without enough time; 0 if none
	pages   int          // pages stored by this pass
}

// searchOpenPulls finds again what a lost database knew, before anything else is ingested: page by
// page, each in its own slice, until all were looked at or the time is up.
func (h *reading) searchOpenPulls(ctx context.Context, share shares) (whole bool, err error) {
	if h.searchDone() {
		return true, nil
	}
	for h.incomplete == nil && !h.searchDone() {
		if h.search.pages == transport.MostPages {
			h.cutList("open pull requests")
			break
		}
		if err := h.searchPage(share.reading); err != nil {
			return false, err
		}
		if err := h.judge(ctx, true); err != nil {
			return false, err
		}
		if h.permissions.askedEnough() {
			h.stopReading(errAskedEnough)
		}
		h.moveSearch()
		kept, err := h.keptMerges(ctx)
		if err != nil {
			return false, err
		}
		if err := h.keep(context.WithoutCancel(ctx), true); err != nil {
			return false, err
		}
		h.known.backlog = append(h.known.backlog, kept...)
		at, _ := h.searchPlace()
		h.env.Log.InfoContext(ctx, "first read of pull requests", "repo_full_name", h.repo.Name.FullName(), "looked_at", at.LookedAt(), "open", at.All, "done", h.searchDone())
		if err := share.issues.Err(); err != nil {
			h.stopReading(err) // the next pass has time for the rest
		}
	}
	if h.incomplete == nil {
		return true, nil
	}
	if at, underWay := h.searchPlace(); underWay {
		h.note = at.Resumes()
	}
	return false, h.keep(context.WithoutCancel(ctx), false)
}

// searchPage adopts our pull requests from one page of the open ones. Running out of time is no
// failure: those read whole are kept.
func (h *reading) searchPage(ctx context.Context) error {
	if at, underWay := h.searchPlace(); underWay {
		defer h.env.Slowly(h.env.Config.Called(h.repo.Name) + ": " + at.Says())()
	}
	defer h.dropUnreadAdoptions()
	err := h.listOpenPage(ctx)
	if err == nil {
		err = h.identify(ctx)
	}
	if err == nil {
		err = h.adoptPage(ctx)
	}
	if github.OutOfTime(err) {
		h.stopReading(err)
		return nil
	}
	return err
}

// searchDone reports whether the walk over all open pull requests is done.
func (h *reading) searchDone() bool { return h.known.cuts[work.FirstLookList] == work.FirstLookDone }

// listOpenPage reads the next page of open pull requests. GitHub's answer also shows which
// repository the name belongs to.
func (h *reading) listOpenPage(ctx context.Context) (err error) {
	h.adopting, h.search.first, h.search.slowest, h.search.left = true, 0, 0, map[int]bool{}
	h.search.at, _ = h.searchPlace()
	h.hung = ""
	h.search.page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, h.search.at.After)
	if e, refused := errors.AsType[*transport.Error](err); refused && h.search.at.After != "" && strings.Contains(e.Type, "CURSOR") {
		h.search.at = work.FirstLook{} // GitHub refuses its own cursor: begin at the first page
		h.search.page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, "")
	}
	if err != nil {
		h.search.page = github.OpenPullsPage{}
		return err
	}
	for _, p := range h.search.page.Pulls {
		h.search.left[p.Number] = true
	}
	h.compareIdentity(h.search.page.Repo)
	return nil
}

// moveSearch decides, after the page is judged, where the walk resumes: behind it, or at the same
// page if the time did not suffice. Then how much of the page was looked at is stored for people
// only. If a whole pass is too short for one pull request and nothing else was read, that one goes
// to the backlog, so that it holds up no other.
func (h *reading) moveSearch() {
	s := &h.search
	at := work.FirstLook{After: s.at.After, Seen: s.at.Seen, All: s.page.All}
	if h.incomplete == nil {
		s.pages++
		h.cuts[work.FirstLookList] = work.FirstLookDone
		if s.page.Next != "" {
			at.After, at.Seen = s.page.Next, at.Seen+len(s.page.Pulls)
			h.cuts[work.FirstLookList] = at.String()
		}
		return
	}
	for _, p := range s.page.Pulls {
		if !s.left[p.Number] && !h.forgotten[p.Number] {
			at.Part++
		}
	}
	if len(s.page.Pulls) > 0 {
		h.cuts[work.FirstLookList] = at.String()
	}
	clear(h.backlog)
	slowest := cmp.Or(s.slowest, s.first) // a read of several may hang because of any of them
	if at := slices.IndexFunc(s.page.Pulls, func(p github.Pull) bool { return p.NodeID == h.hung }); at >= 0 {
		slowest = s.page.Pulls[at].Number
	}
	if s.pages == 0 && h.countRead() == 0 && slowest != 0 && errors.Is(h.incomplete, context.DeadlineExceeded) {
		h.backlog[slowest] = true
	}
}

// searchPlace returns how far the walk got. underWay is false if it has not begun or is done.
func (h *reading) searchPlace() (at work.FirstLook, underWay bool) {
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
	var reads, after []func(context.Context) error
	for group := range slices.Chunk(ours, github.MaxSweep) {
		reads = append(reads, func(ctx context.Context) error { return h.sweepSome(ctx, nodeIDs(group)) })
	}
	for group := range slices.Chunk(ours, github.MaxHistories) {
		reads = append(reads, func(ctx context.Context) error { return h.readHistories(ctx, group) })
	}
	for group := range slices.Chunk(ours, github.MaxDetails) {
		after = append(after, func(ctx context.Context) error { return h.readFoundDetails(ctx, group) })
	}
	return github.FirstError(append(runAtOnce(ctx, historiesAtOnce, reads), runAtOnce(ctx, historiesAtOnce, after)...))
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

// takeFoundDetails ingests the details of an adopted pull request. Without them it counts as not
// found: see dropUnreadAdoptions.
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
