package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A database that is new or was lost lists what is ours: open pull requests, those that the mirror
// remembers as merged, and open issues with our labels. Each is then read like any other number. What
// the database knew comes first, before anything begins.

// labelPlace is followed by a label: how far its open issues are listed.
const labelPlace = "label "

// firstLook finds again what a lost database knew.
func (h *reading) firstLook(ctx, most context.Context) error {
	for pages := 0; !h.timeIsUp() && !h.searchDone(); pages++ {
		if pages == transport.MostPages {
			h.cutList("open pull requests")
			return nil
		}
		if err := h.lookAtPage(ctx, most); err != nil {
			return err
		}
	}
	if h.timeIsUp() {
		return nil
	}
	return h.listLabelled(ctx, most)
}

// searchDone reports whether all open pull requests were looked at.
func (h *reading) searchDone() bool { return h.known.cuts[work.FirstLookList] == work.FirstLookDone }

// searchPlace returns which open pull requests were looked at. underWay is false if none was, or all.
func (h *reading) searchPlace() (at work.FirstLook, underWay bool) {
	return work.ParseFirstLook(h.known.cuts[work.FirstLookList])
}

// lookAtPage reads those of a page of open pull requests that may be ours. The page is passed once each
// of them is tracked, is not ours, or is in the backlog because it cannot be read.
func (h *reading) lookAtPage(ctx, most context.Context) error {
	at, underWay := h.searchPlace()
	if underWay {
		defer h.env.Slowly(h.env.Config.Called(h.repo.Name) + ": " + at.Says())()
	}
	page, err := h.listOpenPage(most, &at)
	if err == nil {
		err = h.identify(most)
	}
	if github.OutOfTime(err) {
		h.stopReading(err)
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := h.unknownOurs(ctx, page.Pulls)
	if err != nil {
		return err
	}
	if err := h.readAhead(most, ours); err != nil {
		return err
	}
	looked := len(page.Pulls) - len(ours)
	for _, p := range ours {
		if h.timeIsUp() {
			break
		}
		h.found[p.Number] = p.Pull
		if err := h.readGroup(ctx, most, []*number{h.numberOf(p.Number)}, map[int]string{}); err != nil {
			return err
		}
		if !h.timeIsUp() {
			looked++
		}
	}
	h.history = github.History{}
	return h.moveSearch(ctx, at, page, looked)
}

// listOpenPage reads the next page of open pull requests. GitHub's answer also shows which
// repository the name belongs to.
func (h *reading) listOpenPage(ctx context.Context, at *work.FirstLook) (github.OpenPullsPage, error) {
	page, err := h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, at.After)
	if e, refused := errors.AsType[*transport.Error](err); refused && at.After != "" && strings.Contains(e.Type, "CURSOR") {
		*at = work.FirstLook{} // GitHub refuses its own cursor: begin at the first page
		page, err = h.repo.GitHub.OpenPullsPage(ctx, h.row.Current, "")
	}
	if err == nil {
		h.compareIdentity(page.Repo)
	}
	return page, err
}

// moveSearch stores where the next pass resumes: behind the page, or at the same page if the time did not
// suffice. Then how much of the page was looked at is stored for people only.
func (h *reading) moveSearch(ctx context.Context, at work.FirstLook, page github.OpenPullsPage, looked int) error {
	at.All, at.Part = page.All, 0
	place, kept := at.String(), []int(nil)
	switch {
	case h.timeIsUp() && len(page.Pulls) > 0:
		at.Part = looked
		place = at.String()
	case page.Next != "":
		at.After, at.Seen = page.Next, at.Seen+len(page.Pulls)
		place = at.String()
	default:
		place = work.FirstLookDone
		var err error
		if kept, err = h.keptMerges(ctx); err != nil {
			return err
		}
	}
	err := h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, n := range kept {
			if err := tx.PutBacklog(ctx, h.row.ID, store.Backlogged{Number: n}); err != nil { // before anything begins
				return err
			}
		}
		return tx.SetFirstLook(ctx, h.row.ID, work.FirstLookList, place)
	})
	if err != nil {
		return err
	}
	for _, n := range kept {
		c := h.numberOf(n)
		c.waited, c.At = true, time.Time{}
	}
	h.known.cuts[work.FirstLookList] = place
	h.env.Log.InfoContext(ctx, "first read of pull requests", "repo_full_name", h.repo.Name.FullName(), "looked_at", at.LookedAt(), "open", at.All, "done", h.searchDone())
	return nil
}

// listLabelled lists the open issues of each label that was never listed: the other lists show only later
// changes.
func (h *reading) listLabelled(ctx, most context.Context) error {
	var reads []func(context.Context) error
	var all []*labelled
	for _, label := range h.repo.Settings.StartLabels() {
		if !slices.Contains(h.known.labels, label) {
			l := &labelled{label: label, list: list{name: labelPlace + label, read: itemsOf(h.repo.GitHub.ListIssues, listedIssue)}}
			l.address = func(repo work.RepoName, since time.Time) string { return github.LabelledIssuesURL(repo, label, since) }
			l.from = cutAt(h.known.cuts[l.name])
			all = append(all, l)
			reads = append(reads, func(ctx context.Context) error { return h.readLabelled(ctx, l) })
		}
	}
	if len(all) == 0 {
		return nil
	}
	if err := github.SideBySide(most, reads...); err != nil {
		return err
	}
	for _, l := range all {
		var news []listedItem
		for _, it := range l.items {
			item, tracked, err := h.item(ctx, it.number)
			if err != nil {
				return err
			}
			if !tracked || !h.unchanged(item, *it.issue) {
				news = append(news, it)
				h.noteListed(it)
			}
		}
		l.items = news
	}
	return h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, l := range all {
			for _, it := range l.items {
				if err := tx.PutBacklog(ctx, h.row.ID, h.numbers[it.number].Backlogged); err != nil {
					return err
				}
			}
			if err := l.store(ctx, tx, h.row.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// labelled is the list of the open issues of a label.
type labelled struct {
	list
	label string
	from  time.Time // where the next pass begins
	ended bool
}

// readLabelled reads the list to its end.
func (h *reading) readLabelled(ctx context.Context, l *labelled) error {
	address := l.address(h.row.Current, l.from)
	for range transport.MostPages {
		p, _, err := h.readPage(ctx, &l.list, address)
		if err != nil && timeUp(ctx, err) {
			h.stopReading(err)
			return nil
		}
		if err != nil {
			return err
		}
		if p.Next == "" {
			l.ended = true
			return nil
		}
		if at := github.SinceOf(p.Next); !at.IsZero() {
			l.from = at
		}
		address = p.Next
	}
	h.cutList(l.name)
	return nil
}

func (l *labelled) store(ctx context.Context, tx *store.Tx, repo int64) error {
	switch {
	case l.ended:
		return errors.Join(tx.AddSeenLabel(ctx, repo, l.label), tx.SetFirstLook(ctx, repo, l.name, ""))
	case !l.from.IsZero():
		return tx.SetFirstLook(ctx, repo, l.name, l.from.UTC().Format(time.RFC3339))
	}
	return nil
}

// cutAt parses where a list was cut; zero if it was not.
func cutAt(stored string) time.Time {
	at, err := time.Parse(time.RFC3339, stored)
	if err != nil {
		return time.Time{} // none, or a link stored by an older version
	}
	return at
}

// foundPull is a pull request that may be ours, and the issue that its branch names.
type foundPull struct {
	github.Pull
	issue int
}

// unknownOurs returns the pull requests that may be ours and are not tracked. Those that
// could not be read are left out: they are read singly.
func (h *reading) unknownOurs(ctx context.Context, page []github.Pull) (ours []foundPull, err error) {
	for _, p := range page {
		_, issue, named := work.ParseBranch(p.Head)
		if c, some := h.numbers[p.Number]; !named || !h.byUs(p) || some && c.Tries > 0 {
			continue
		}
		_, tracked, err := h.pull(ctx, p.Number)
		if err != nil {
			return nil, err
		}
		if !tracked {
			ours = append(ours, foundPull{p, issue})
		}
	}
	return ours, nil
}

const (
	historiesAtOnce = 10
	aheadUntil      = 4 // tenths of Timings.IngestTimeout
)

// readAhead reads the details and histories of found pull requests and their issues side by side. What
// it misses, because one of them hangs or is refused, is read singly. Details come after the light
// queries: a change between the two shows in the next light query.
func (h *reading) readAhead(ctx context.Context, ours []foundPull) error {
	ahead, cancel := h.ingest.until(ctx, h.env.Config.Runtime.IngestTimeout*aheadUntil/10)
	defer cancel()
	var reads []func(context.Context) error
	var numbers []int
	ids := map[int]string{}
	for group := range slices.Chunk(ours, github.MaxSweep) {
		reads = append(reads, func(ctx context.Context) error { return h.sweepSome(ctx, nodeIDs(group)) })
	}
	for group := range slices.Chunk(ours, github.MaxHistories) {
		reads = append(reads, func(ctx context.Context) error { return h.readHistories(ctx, group) })
	}
	for _, p := range ours {
		numbers, ids[p.Number] = append(numbers, p.Number), p.NodeID
	}
	err := errors.Join(errors.Join(github.AtOnce(ahead, historiesAtOnce, reads)...), h.fetchAhead(ahead, numbers, ids))
	if _, limited := errors.AsType[*work.WaitError](err); limited {
		h.stopReading(err)
		return nil
	}
	if err != nil && !github.IsItemError(err) && !github.OutOfTime(err) {
		return err
	}
	return h.askAuthors(ahead, ours)
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
