package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// Three lists and one light query say which issues and pull requests changed, and nothing else: their
// numbers are stored in the backlog, in one transaction with the lists' cursors. number.go reads each.

// overlap is how far before the newest change seen a list is read again: GitHub's lists may lag,
// and its stamps are whole seconds.
const overlap = 5 * time.Minute

// list is one of the lists, oldest change first.
type list struct {
	name    string     // the end of its path
	since   *time.Time // in the row with moved cursors
	address func(work.RepoName, time.Time) string
	read    func(context.Context, transport.PageRequest) (page, error)

	items []listedItem     // what it showed
	pages []work.Validator // of the pages that were read
}

// page is a page of any list.
type page = transport.Page[listedItem]

// listedItem is an issue, a pull request or a comment on one, as a list shows it.
type listedItem struct {
	number  int // of the issue or pull request
	changed time.Time
	issue   *github.Issue
	comment *github.Comment
	line    *github.ReviewComment
	shown   bool // the page showed it when it was read before: then it was put into the backlog
}

func (h *reading) allLists() []*list {
	hub := h.repo.GitHub
	return []*list{
		{name: "issues", since: &h.row.IssuesSince, address: github.IssuesURL, read: itemsOf(hub.ListIssues, listedIssue)},
		{name: "issues/comments", since: &h.row.CommentsSince, address: github.CommentsURL, read: itemsOf(hub.ListComments, func(c github.Comment) listedItem {
			return listedItem{number: c.Number, changed: c.UpdatedAt, comment: &c}
		})},
		{name: "pulls/comments", since: &h.row.ReviewCommentsSince, address: github.ReviewCommentsURL, read: itemsOf(hub.ListReviewComments, func(c github.ReviewComment) listedItem {
			return listedItem{number: c.Pull, changed: c.UpdatedAt, line: &c}
		})},
	}
}

func listedIssue(is github.Issue) listedItem {
	return listedItem{number: is.Number, changed: is.UpdatedAt, issue: &is}
}

// itemsOf turns a client's read of a listing into the read of a list.
func itemsOf[T any](read func(context.Context, transport.PageRequest) (transport.Page[T], error), show func(T) listedItem) func(context.Context, transport.PageRequest) (page, error) {
	return func(ctx context.Context, r transport.PageRequest) (page, error) {
		p, err := read(ctx, r)
		all := page{ETag: p.ETag, Next: p.Next, NotModified: p.NotModified}
		for _, it := range p.Items {
			all.Items = append(all.Items, show(it))
		}
		return all, err
	}
}

// findChanged reads side by side what every pass reads, so that an idle pass takes one round trip.
func (h *reading) findChanged(ctx context.Context) error {
	h.lists = h.allLists()
	reads := []func(context.Context) error{h.sweepOpen}
	for _, l := range h.lists {
		reads = append(reads, func(ctx context.Context) error { return h.readList(ctx, l) })
	}
	return github.SideBySide(ctx, reads...)
}

// readList reads a list from its cursor to its end. An item that changes during the read moves to the end,
// and all behind it move up: so a page begins at the time at which the last one ended, and only pages of one
// second differ by number. Each page has an ETag: an unchanged page 1 does not prove that page 2 is
// unchanged. A pass that had too little time is followed by one that asks for the same pages again, which
// are unchanged, and gets further.
//
// The cursor moves only over what is older than the overlap, and only to where a page begins: until then
// the address keeps its ETag.
func (h *reading) readList(ctx context.Context, l *list) error {
	asked := h.now()
	if l.since.IsZero() || l.since.After(asked) { // the host's clock was ahead for a while
		*l.since = asked.Add(-overlap).Truncate(time.Second)
	}
	settled, old := asked.Add(-overlap-2*time.Second), false
	from := l.address(h.row.Current, *l.since)
	return h.eachPage(ctx, l, from, func(address string, p page, last time.Time) error {
		old = old || last.Before(settled)
		switch at := github.SinceOf(p.Next); {
		case p.Next == "" && address != from && old:
			*l.since = settled.Truncate(time.Second)
		case at.After(*l.since) && !at.After(settled):
			*l.since = at
		}
		return nil
	})
}

// eachPage reads a list from an address to its end, as long as there is time. One that has more pages than a pass
// reads, whether it is that long or always names a next page, is cut: what it showed so far is read.
func (h *reading) eachPage(ctx context.Context, l *list, address string, took func(address string, p page, last time.Time) error) error {
	for range transport.MostPages {
		p, last, err := h.readPage(ctx, l, address)
		if err != nil && timeUp(ctx, err) {
			h.stopReading(err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %q: %w", l.name, err)
		}
		if err := took(address, p, last); err != nil || p.Next == "" {
			return err
		}
		address = p.Next
	}
	said := fmt.Sprintf("the list %q was cut after %d pages; more of it is read in the next pass", l.name, transport.MostPages)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note = said
	h.trouble = append(h.trouble, said)
	h.log.Warn("a list was cut", "repo_full_name", h.repo.Name.FullName(), "list", l.name, "pages", transport.MostPages)
	return nil
}

// readPage reads a page with its stored ETag and finds where the next one begins. last is when the last
// item of the page changed; of an unchanged page, when it was read.
func (h *reading) readPage(ctx context.Context, l *list, address string) (p page, last time.Time, err error) {
	asked, before := h.now(), h.pages[address]
	if p, err = l.read(ctx, transport.PageRequest{URL: address, ETag: before.ETag}); err != nil {
		return p, last, err
	}
	if p.NotModified {
		p.Next = before.Next
		return p, before.SeenAt, nil
	}
	last = asked
	if n := len(p.Items); n > 0 {
		last = p.Items[n-1].changed
	}
	if full := len(p.Items) >= fullPage; full || p.Next != "" && len(p.Items) > 0 {
		// GitHub does not document whether "since" includes its own second.
		if on := last.Add(-time.Second); on.After(github.SinceOf(address)) {
			p.Next = l.address(h.row.Current, on)
		} else if p.Next == "" { // new items begin another page and leave this one unchanged
			if p.Next, err = github.NextPage(address); err != nil {
				return p, last, err
			}
		}
	}
	shown := before.SeenAt.Add(-overlap - 2*time.Second)
	for _, it := range p.Items {
		it.shown = !before.SeenAt.IsZero() && it.changed.Before(shown)
		l.items = append(l.items, it)
	}
	l.pages = append(l.pages, work.Validator{RepoID: h.row.ID, URL: address, ETag: p.ETag, Next: p.Next, SeenAt: asked})
	return p, last, nil
}

// fullPage is the most items that a page of a list has. Items after a full page leave it and its
// ETag unchanged, so its next page is read even before anything is on it.
const fullPage = 100

// passed reports whether a page is no longer read: the cursor moved past its beginning.
func (l *list) passed(url string) bool {
	path, _, _ := strings.Cut(url, "?")
	return strings.HasSuffix(path, "/"+l.name) && github.SinceOf(url).Before(*l.since)
}

// sweepsAtOnce is how many light queries run at once for one repository.
const sweepsAtOnce = 4

// rotateAfter is the age at which the details of an open pull request are read again although
// nothing shows a change: no stamp is proof.
const rotateAfter = 30 * time.Minute

// sweepOpen asks which open tracked pull requests changed, which repository this is, and for our account: that
// decides what is ours, so nothing is judged without it.
func (h *reading) sweepOpen(ctx context.Context) error {
	var open []string
	for _, n := range slices.Sorted(maps.Keys(h.openPulls)) {
		open = append(open, h.openPulls[n].NodeID)
	}
	parts := slices.Collect(slices.Chunk(open, github.MaxSweep))
	if len(open) == 0 {
		err := h.sweepSome(ctx, nil)
		_, another := errors.AsType[*work.BlockedError](err) // passes work with another account than the one that GitHub named
		if err != nil && github.IsItemError(err) && !another && len(h.accounts.Operators(h.repo.Name.Host)) > 0 {
			h.tellUnread(fmt.Errorf("ask whose account this is: %w", err)) // it is known; the lists are read
			return nil
		}
		if github.IsStatus(err, 403) {
			return h.noAccount(h.repo.Name.Host, err)
		}
		return err
	}
	first := int(h.now().Unix() % int64(len(parts))) // those that go last may be too late
	var asks []func(context.Context) error
	for _, ids := range slices.Concat(parts[first:], parts[:first]) {
		asks = append(asks, func(ctx context.Context) error { return h.sweepSome(ctx, ids) })
	}
	errs := github.AtOnce(ctx, sweepsAtOnce, asks)
	err := github.FirstError(errs)
	if len(h.lights) == 0 || slices.ContainsFunc(errs, func(err error) bool { return err != nil && !github.OutOfTime(err) }) {
		return err
	}
	if err != nil && timeUp(ctx, err) {
		h.stopReading(err)
	} else if err != nil { // some of the queries had no answer
		h.tellUnread(fmt.Errorf("ask which pull requests changed: %w", err))
	}
	// Those that changed or were never read are read, and a few of those that were read longest ago.
	var old []store.OpenPull
	for n, pull := range h.openPulls {
		switch light, seen := h.lights[n]; {
		case !seen:
		case light != pull.Fingerprint || pull.ReadAt.IsZero():
			h.swept[n] = true
		case h.now().Sub(pull.ReadAt).Abs() > rotateAfter:
			old = append(old, pull)
		}
	}
	sorted.By(old, func(a, b store.OpenPull) int { return a.ReadAt.Compare(b.ReadAt) })
	for _, pull := range old[:min(len(old), github.MaxDetails)] {
		h.swept[pull.Number] = true
	}
	return nil
}

// sweepSome sends a light query about pull requests by node id. If GitHub cannot answer, it asks about
// halves, so that one pull request does not hide the others. That one is read, and so says why not.
func (h *reading) sweepSome(ctx context.Context, ids []string) error {
	s, err := h.repo.GitHub.Sweep(ctx, h.row.Current, ids)
	if half := len(ids) / 2; err != nil && github.IsItemError(err) && half > 0 {
		return errors.Join(h.sweepSome(ctx, ids[:half]), h.sweepSome(ctx, ids[half:]))
	}
	var unanswered error
	if err != nil && github.IsItemError(err) && len(ids) == 1 {
		s, unanswered, err = github.Sweep{Missing: ids}, err, nil
	} else if err == nil {
		err = h.acceptAccount(ctx, h.repo.Name.Host, s.Viewer)
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch who := s.Repo; {
	case who.NodeID == h.row.NodeID && (who.DefaultBranch == "" || who.DefaultBranch == h.row.DefaultBranch):
		h.repo.Confirm(h.now())
	case who.NodeID != "", who.Gone:
		h.doubtful = true
	}
	for _, light := range s.Pulls {
		h.lights[light.Number] = light.Fingerprint
	}
	for n, pull := range h.openPulls {
		if slices.Contains(s.Missing, pull.NodeID) {
			h.lights[n] = ""
			h.swept[n] = true
			if unanswered != nil {
				h.tellUnread(fmt.Errorf("ask whether #%d changed: %w", n, unanswered))
			}
		}
	}
	return nil
}

// noteNews notes the numbers of what the lists and the light query show, and that was not in the backlog before.
func (h *reading) noteNews(ctx context.Context) {
	for _, l := range h.lists {
		for _, it := range l.items {
			news := !it.shown
			if it.shown && it.issue != nil && !it.issue.IsPull { // it may read differently although it has the stamp that it had
				item, tracked := h.item(ctx, it.number)
				news = tracked && !unchanged(item, *it.issue)
			}
			if news {
				h.noteListed(it)
			}
		}
		l.items = nil
	}
	for n := range h.swept {
		if c := h.numberOf(n); !c.waits {
			c.fresh, c.details = true, true
		}
	}
	for _, c := range h.numbers {
		if c.fresh { // something new: it is tried at once
			c.waits = false
		}
	}
	h.sortBacklog()
}

// numberOf returns a number of the backlog; it is added if it is not there.
func (h *reading) numberOf(n int) *number {
	c, some := h.numbers[n]
	if !some {
		c = &number{Backlogged: store.Backlogged{Number: n, At: h.began}}
		h.numbers[n] = c
	}
	return c
}

// mostHeard is how many comments of the lists are kept until their numbers are read. Of the other numbers
// the comments are read then.
const mostHeard = 2000

// noteListed notes what a list shows.
func (h *reading) noteListed(it listedItem) {
	c := h.numberOf(it.number)
	c.fresh = true
	if it.issue != nil {
		if c.issue == nil || !it.issue.UpdatedAt.Before(c.issue.UpdatedAt) {
			c.issue = it.issue
		}
		h.noteChanged(*it.issue)
		return
	}
	if c.Since.IsZero() || it.changed.Before(c.Since) {
		c.Since = it.changed
	}
	h.changed[it.number] = true
	switch h.heard++; {
	case h.heard > mostHeard:
		c.unheard = true
	case it.comment != nil:
		c.comments = append(c.comments, *it.comment)
	default:
		c.lines = append(c.lines, *it.line)
	}
}

// noteChanged notes a changed issue for what depends on it.
func (h *reading) noteChanged(is github.Issue) {
	h.changed[is.Number] = true
	news := h.numberOf(is.Number).waited || is.ClosedAt.After(h.repo.Row.HeartbeatAt.Add(-stampLag)) // lists show it for the overlap
	h.pullEnded = h.pullEnded || is.IsPull && is.State != "open" && news
}

// storeChanged puts the numbers that changed into the backlog, with the cursors that say so.
func (h *reading) storeChanged(ctx context.Context) error {
	var pages []work.Validator
	var passed []string
	for _, l := range h.lists {
		pages = append(pages, l.pages...)
		for url := range h.pages {
			if l.passed(url) {
				passed = append(passed, url)
			}
		}
		pages = slices.DeleteFunc(pages, func(v work.Validator) bool { return l.passed(v.URL) })
	}
	changed := slices.DeleteFunc(slices.Clone(h.next), func(c *number) bool { return !c.fresh })
	if len(changed)+len(pages)+len(passed) == 0 {
		return nil
	}
	return h.inPlanning(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		for _, c := range changed {
			err = cmp.Or(err, tx.PutBacklog(ctx, h.row.ID, c.Backlogged))
		}
		for _, url := range passed {
			err = cmp.Or(err, tx.DeleteValidators(ctx, h.row.ID, url))
		}
		for _, v := range pages {
			err = cmp.Or(err, tx.PutValidator(ctx, v))
		}
		if err != nil || h.row == h.repo.Row {
			return err
		}
		return tx.SetCursors(ctx, h.row)
	})
}
