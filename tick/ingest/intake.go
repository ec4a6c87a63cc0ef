package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulls"
)

// queue are the issues and pull requests that were listed, in the order in which they are
// taken in: first what earlier passes had no time for.
type queue struct {
	filled bool
	order  []int
	listed map[int]github.Issue
	taken  map[int]time.Time // by this pass: how they were listed
}

// add queues what a page lists, unless it was taken in as it is there.
func (q *queue) add(issues []github.Issue) {
	for _, is := range issues {
		if at, taken := q.taken[is.Number]; taken && !is.UpdatedAt.After(at) {
			continue
		}
		last, again := q.listed[is.Number]
		if !again || !is.UpdatedAt.Before(last.UpdatedAt) {
			q.listed[is.Number] = is
		}
		if !again && !slices.Contains(q.order, is.Number) {
			q.order = append(q.order, is.Number)
		}
	}
}

// next is the next one; false when there is none.
func (q *queue) next() (n int, is github.Issue, listed, ok bool) {
	if len(q.order) == 0 {
		return 0, is, false, false
	}
	n, q.order = q.order[0], q.order[1:]
	is, listed = q.listed[n]
	delete(q.listed, n)
	q.taken[n] = is.UpdatedAt
	return n, is, listed, true
}

// intakeIssues looks at what changed among issues and pull requests, a page of each list
// or less, until the slice is full. It says whether there are more.
func (h *Issues) intakeIssues(ctx context.Context, walks []*batch.Walk[github.Issue]) (more bool, err error) {
	h.fill(walks)
	for len(h.queue.order) > 0 {
		if h.Full() && ctx.Err() == nil {
			return true, nil
		}
		for _, n := range h.queue.order[:min(len(h.queue.order), beside)] {
			h.foresee(ctx, h.queue.listed[n])
		}
		n, is, listed, _ := h.queue.next()
		if err := h.takeNumber(ctx, n, is, listed); err != nil {
			return false, err
		}
	}
	for _, w := range walks {
		h.takePage(w)
	}
	more = slices.ContainsFunc(walks, func(w *batch.Walk[github.Issue]) bool { return !w.Over() })
	if more && ctx.Err() != nil {
		h.StopReading(ctx.Err())
		more = false
	}
	return more, nil
}

// fill queues the pages that wait to be taken in, once the last ones are.
func (h *Issues) fill(walks []*batch.Walk[github.Issue]) {
	q := &h.queue
	if !q.filled {
		*q = queue{filled: true, order: slices.Clone(h.Known.Backlog), listed: map[int]github.Issue{}, taken: map[int]time.Time{}}
	} else if len(q.order) > 0 {
		return
	}
	for _, w := range walks {
		q.add(w.Items())
		for _, is := range w.Items() {
			h.Changed[is.Number] = true
		}
	}
}

// takePage has a page count as taken in: all that it lists is, or is in the backlog.
func (h *Issues) takePage(w *batch.Walk[github.Issue]) {
	if !w.Waits() {
		return
	}
	w.Take(h.Batch)
	label, first := strings.CutPrefix(w.Name, batch.WalkLabel)
	if !first {
		return
	}
	delete(h.Pages, w.Name) // they are read once
	if w.Through() {
		h.Labels = append(h.Labels, label)
	}
}

// takeNumber takes in an issue or a pull request that was listed, whole or not at
// all: then it is tried again, after the others.
func (h *Issues) takeNumber(ctx context.Context, n int, is github.Issue, listed bool) error {
	waited, tried := slices.Contains(h.Known.Backlog, n), ctx.Err() == nil
	items, events, comments := maps.Clone(h.Items), len(h.Events), len(h.ListedComments)
	err := h.intakeNumber(ctx, n, is, listed)
	h.Lists.Settle(err == nil && !batch.FoundHalf(h.Batch, n), n)
	if err == nil {
		if waited && !h.Backlog[n] {
			h.Backlog[n] = false
		}
		return nil
	}
	h.Items, h.Events, h.ListedComments = items, h.Events[:events], h.ListedComments[:comments]
	for pull, issue := range h.Adopted {
		if _, known := items[issue]; issue == n && !known {
			delete(h.Adopted, pull)
			delete(h.PullRows, pull)
			delete(h.Open, pull)
			delete(h.Promoted, n)
		}
	}
	if tried || !waited {
		h.Backlog[n] = true
	}
	if batch.OutOfTime(err) {
		h.StopReading(err)
		return nil
	}
	return h.DeferOne(err, "read issue #%d", n)
}

func (h *Issues) intakeNumber(ctx context.Context, n int, is github.Issue, listed bool) (err error) {
	if !listed {
		if is, listed, err = h.R.GitHub.Issue(ctx, h.Repo.Current, n); err != nil || !listed {
			return err // or it is gone
		}
	}
	if is.IsPull {
		return h.noticePull(ctx, is)
	}
	return h.intakeIssue(ctx, is)
}

// noticePull marks a tracked pull request that was closed and has changed since:
// the sweep only asks about those that were open, and one that was opened again
// may be merged by now.
func (h *Issues) noticePull(ctx context.Context, is github.Issue) error {
	pull, ok, err := h.Pull(ctx, is.Number)
	if err != nil {
		return err
	}
	if !ok {
		if err := h.rebuild.AdoptReopened(ctx, is); err != nil {
			return err
		}
		return pulls.Theirs{Pulls: h.pulls}.Wanted(ctx, is)
	}
	if pull.State == work.PullClosed && (is.State == "open" || changedSince(pull, is)) {
		pull.Fingerprint = "" // that of the last time may have been this one
		h.Open[is.Number] = pull
		h.Lights[is.Number] = github.PullLight{Fingerprint: "changed"} // differs from what a sweep says
	}
	return nil
}

// changedSince reports whether a pull request may have changed since its details
// were read. Two changes in one second share a stamp, so that of one that was
// read soon after it proves nothing.
func changedSince(pull work.PullRequest, is github.Issue) bool {
	soon := pull.DetailsAt.Sub(pull.UpdatedAt) < batch.Overlap
	return is.UpdatedAt.After(pull.UpdatedAt) || soon && is.UpdatedAt.Equal(pull.UpdatedAt)
}

// intakeIssue begins to track an issue with one of our labels, and notes what
// became of one that is tracked.
func (h *Issues) intakeIssue(ctx context.Context, is github.Issue) error {
	item, tracked, err := h.Item(ctx, is.Number)
	if err != nil {
		return err
	}
	label, wanted := batch.FlowOf(h.R.Settings, is.Labels)
	ignored := work.HasLabel(is.Labels, h.R.Settings.Labels.Ignore)
	if !tracked && wanted && ignored && is.State == "open" {
		if h.R.Ignored == nil {
			h.R.Ignored = map[int]work.Flow{}
		}
		h.R.Ignored[is.Number] = label.Flow
	}
	if !h.asks(item, tracked, is) {
		return nil
	}
	timeline, err := h.R.GitHub.TimelineOf(ctx, h.Repo.Current, is.Number)
	if err != nil {
		return err
	}
	item = batch.Began(item, timeline)
	h.comments.IssueTaken(is, timeline)
	if err := h.MissInTimeline(ctx, is.Number, item.ID, timeline); err != nil {
		return err
	}
	asked, err := h.flowsAsked(ctx, item, is, timeline)
	h.NoteLag(is, timeline, wanted && is.State == "open" && len(asked) == 0 && (!tracked || !item.State.Open()))
	switch {
	case err != nil:
		return err
	case !tracked && len(asked) == 0:
		return nil // the list is ahead of the timeline: the next change shows it; or it begins nothing
	case !tracked, len(asked) > 0 && !ignored && is.State == "open" && !item.State.Open():
		return h.beginFirst(ctx, is, asked, timeline, tracked)
	}
	swapped, err := h.swapped(ctx, item, is, asked)
	if err != nil {
		return err
	}
	if swapped && !ignored {
		h.withdraw(item, timeline)
		return h.beginFirst(ctx, is, asked, timeline, tracked)
	}
	again, relabelled := askedAgain(asked, item, is)
	if item, err = h.retell(ctx, item, is, timeline, again.Name); err != nil {
		return err
	}
	if !wanted && (item.State == work.StatePending || item.State == work.StateAwaitingIssueFollowup) {
		if t, ok := batch.Last(timeline, "unlabeled", item.Label); ok {
			h.Add(batch.Fact(item, work.EventClosed, is.Number, t, "unlabelled"))
		}
	}
	if relabelled && is.State == "open" { // one of a closed issue counts once it is reopened
		item = h.Items[is.Number]
		item.Label, item.LabelEvent = again.Name, strconv.FormatInt(again.set.ID, 10)
		h.Items[is.Number] = item
		h.Add(batch.Fact(item, work.EventLabelled, is.Number, again.set, again.Name))
	}
	h.changes(item, is.Number, timeline)
	return nil
}

// asks reports whether anything more is asked about an issue than what its list shows.
func (h *Issues) asks(item work.Item, tracked bool, is github.Issue) bool {
	if tracked {
		return !h.unchanged(item, is)
	}
	_, wanted := batch.FlowOf(h.R.Settings, is.Labels)
	return wanted && !work.HasLabel(is.Labels, h.R.Settings.Labels.Ignore) && is.State == "open"
}

// begin tracks an issue: with the labelling that asked for it, and everything
// that was said before.
func (h *Issues) begin(ctx context.Context, is github.Issue, label batch.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, again bool) error {
	item := batch.NewItem(h.Batch, is, label)
	item.LabelEvent = strconv.FormatInt(labelled.ID, 10)
	item, err := h.retell(ctx, item, is, timeline, label.Name)
	if err != nil {
		return err
	}
	h.Add(batch.Fact(h.Items[is.Number], work.EventLabelled, is.Number, labelled, label.Name))
	if again {
		return nil // what was said is in the database
	}
	comments, err := h.R.GitHub.CommentsOf(ctx, h.Repo.Current, is.Number, time.Time{})
	if err != nil {
		return err
	}
	h.Ahead().NoteTalk(is.Number, comments)
	return nil
}

// retell takes in what people may change about an issue, as far as it counts:
// since the newest setting of the label, the item's or the one that is wanted.
func (h *Issues) retell(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent, label string) (work.Item, error) {
	by := item
	by.Label = cmp.Or(label, item.Label)
	c, err := h.ConfirmText(ctx, by, is, timeline)
	if err != nil {
		return item, err
	}
	h.refresh(item, is, c, batch.Settled(is, timeline, h.Now()))
	return h.Items[is.Number], nil
}

// refresh takes in what people may change about an issue.
func (h *Issues) refresh(item work.Item, is github.Issue, c confirmed, settled bool) {
	item.Title, item.Body, item.Edited, item.Author, item.URL = c.Title, c.Body, c.Edited, is.Author, is.URL
	item.IssueClosed = is.State != "open"
	item.Fingerprint = ""
	if settled {
		item.Fingerprint = fingerprint(is)
	}
	h.Items[is.Number] = item
}

// unchanged reports whether nothing about an issue differs from when its
// timeline was last read. A list is read again as a whole when anything in it
// changed; that must not cost a request for each issue. See batch.Settled.
func (h *Issues) unchanged(item work.Item, is github.Issue) bool {
	return item.Fingerprint != "" && item.Fingerprint == fingerprint(is)
}

func fingerprint(is github.Issue) string {
	return work.ContentHash(is.State, is.Title, is.Body, strings.Join(is.Labels, "\n"), is.UpdatedAt.UTC().Format(time.RFC3339))
}

// changes notes closings and reopenings after the labelling that began the item.
func (h *Issues) changes(item work.Item, number int, timeline []github.TimelineEvent) {
	for _, t := range timeline {
		kind := work.EventClosed
		switch {
		case t.Event == "reopened":
			kind = work.EventReopened
		case t.Event != "closed":
			continue
		}
		if newer(t, item) {
			h.Add(batch.Fact(item, kind, number, t, ""))
		}
	}
}

// newer reports whether something happened after the labelling that began the
// item. Labellings, closings and reopenings are issue events, whose ids rise.
func newer(t github.TimelineEvent, item work.Item) bool {
	began, err := strconv.ParseInt(item.LabelEvent, 10, 64)
	if err != nil {
		return true
	}
	return t.ID > began
}
