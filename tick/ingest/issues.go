package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// queue has the listed issues and pull requests in the order in which they are ingested: the
// backlog of earlier passes first.
type queue struct {
	filled bool
	order  []int
	listed map[int]github.Issue
	taken  map[int]time.Time // ingested by this pass: UpdatedAt as listed
}

// add queues the issues of a page, except those ingested unchanged.
func (q *queue) add(issues []listedItem) {
	for _, it := range issues {
		is := *it.issue
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

// next returns the next number. listed is false if no list showed it; ok is false at the end.
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

// intakeIssues ingests changed issues and pull requests, at most one page of each list, until the
// slice is full. more reports whether some remain.
func (h *reading) intakeIssues(ctx context.Context, walks []*walk) (more bool, err error) {
	h.fillQueue(walks)
	for len(h.queue.order) > 0 {
		if h.full() && ctx.Err() == nil {
			return true, nil
		}
		if err := h.sendForNext(ctx); err != nil {
			return false, err
		}
		n, is, listed, _ := h.queue.next()
		if err := h.takeNumber(ctx, n, is, listed); err != nil {
			return false, err
		}
	}
	for _, w := range walks {
		h.takePage(w)
	}
	more = slices.ContainsFunc(walks, func(w *walk) bool { return !w.over() })
	if more && ctx.Err() != nil {
		h.stopReading(ctx.Err())
		more = false
	}
	return more, nil
}

// fillQueue queues the waiting pages once the queue is empty.
func (h *reading) fillQueue(walks []*walk) {
	q := &h.queue
	if !q.filled {
		*q = queue{filled: true, order: slices.Clone(h.known.backlog), listed: map[int]github.Issue{}, taken: map[int]time.Time{}}
	} else if len(q.order) > 0 {
		return
	}
	for _, w := range walks {
		q.add(w.items)
		for _, it := range w.items {
			h.changed[it.number] = true
			if it.issue.Parent != "" {
				h.parents[strings.ToLower(h.called(it.issue.Parent))] = true
			}
			h.pullEnded = h.pullEnded || it.issue.IsPull && it.issue.State != "open"
		}
	}
	q.order = slices.DeleteFunc(q.order, func(n int) bool {
		return h.waits(n) && h.tellLong(n) != nil
	})
}

// takePage marks a page as ingested: every number on it is ingested or in the backlog.
func (h *reading) takePage(w *walk) {
	if !w.waiting {
		return
	}
	w.take()
	label, first := strings.CutPrefix(w.name, walkLabel)
	if !first {
		return
	}
	w.pages = nil // they are read once
	if w.through() {
		h.seenLabels = append(h.seenLabels, label)
	}
}

// takeNumber ingests a listed issue or pull request whole or not at all. If it fails, it is tried
// again after the others.
func (h *reading) takeNumber(ctx context.Context, n int, is github.Issue, listed bool) error {
	first := len(h.queue.taken) == 1
	waited, tried := slices.Contains(h.known.backlog, n), ctx.Err() == nil
	before, some := h.issues[n]
	err := h.intakeNumber(ctx, n, is, listed)
	if err == nil {
		if waited && !h.backlog[n] {
			h.backlog[n] = false
		}
		return nil
	}
	if h.issues[n] = before; !some {
		delete(h.issues, n)
	}
	if tried || !waited {
		h.backlog[n] = true
	}
	if github.OutOfTime(err) {
		h.stopReading(err)
		if first && tried && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			h.leaveLong(n)
		}
		return nil
	}
	return h.deferOne(err, "read issue #%d", n)
}

func (h *reading) intakeNumber(ctx context.Context, n int, is github.Issue, listed bool) (err error) {
	if !listed {
		if is, listed, err = h.repo.GitHub.Issue(ctx, h.row.Current, n); err != nil || !listed {
			return err // or it is gone
		}
	}
	if is.IsPull {
		return h.noticePull(ctx, is)
	}
	return h.intakeIssue(ctx, is)
}

// noticePull has the details of a closed pull request read again if it changed since. The sweep
// asks only about open ones, and one that was reopened may be merged already.
func (h *reading) noticePull(ctx context.Context, is github.Issue) error {
	pull, ok, err := h.pull(ctx, is.Number)
	if err != nil {
		return err
	}
	if !ok {
		if err := h.adoptUnlisted(ctx, is); err != nil {
			return err
		}
		return h.beginReview(ctx, is)
	}
	if err := h.noteAssigned(ctx, pull, is); err != nil {
		return err
	}
	if pull.State == work.PullClosed && (is.State == "open" || changedSince(pull, is)) {
		pull.Fingerprint = "" // the stored fingerprint may match the current one again
		h.openPulls.put(pull)
		h.lights[is.Number] = "changed" // differs from every fingerprint of a sweep
	}
	return nil
}

// changedSince reports whether a pull request may have changed since its details were read. Two
// changes in one second share a stamp, so the stamp of one read soon after it proves nothing.
func changedSince(pull work.PullRequest, is github.Issue) bool {
	soon := pull.DetailsAt.Sub(pull.UpdatedAt) < overlap
	return is.UpdatedAt.After(pull.UpdatedAt) || soon && is.UpdatedAt.Equal(pull.UpdatedAt)
}

// intakeIssue begins to track an issue with one of our labels, and ingests changes of a tracked
// one.
func (h *reading) intakeIssue(ctx context.Context, is github.Issue) error {
	item, tracked, err := h.item(ctx, is.Number)
	if err != nil {
		return err
	}
	label, wanted := h.repo.Settings.FlowOf(is.Labels)
	ignored := work.HasLabel(is.Labels, h.repo.Settings.Labels.Ignore)
	if !tracked && wanted && ignored && is.State == "open" {
		if h.repo.Ignored == nil {
			h.repo.Ignored = map[int]work.Flow{}
		}
		h.repo.Ignored[is.Number] = label.Flow
	}
	if is.State != "open" && tracked {
		h.closed = append(h.closed, work.Dependency{Repo: h.repo.Name, Number: is.Number}.String())
	}
	if !h.needsMoreReads(item, tracked, is) {
		return nil
	}
	timeline, err := h.timelines.take(ctx, is.Number, func(ctx context.Context) ([]github.TimelineEvent, error) {
		return h.repo.GitHub.TimelineOf(ctx, h.row.Current, is.Number)
	})
	if err != nil {
		return err
	}
	item = resolveLabelEvent(item, timeline)
	h.noteIssuePauses(is, item.Flow, timeline)
	if !tracked && ignored { // a roadmap: see needsMoreReads
		labelled, _ := lastEvent(timeline, "labeled", label.Name)
		_, err := h.adoptEnded(ctx, is, label, labelled, timeline)
		return err
	}
	asked, err := h.flowsAsked(ctx, item, is, timeline)
	if err == nil {
		asked, err = h.declineRoadmaps(ctx, item, is, asked)
	}
	h.noteLag(is, timeline, wanted && is.State == "open" && len(asked) == 0 && (!tracked || !item.State.Open()))
	switch {
	case err != nil:
		return err
	case !tracked && len(asked) > 0:
		orphan, err := h.findRoadmapAbove(ctx, is)
		if err != nil || orphan && h.declineOrphan(is, asked[0], timeline) {
			return err
		}
	}
	switch {
	case !tracked && len(asked) == 0:
		return nil // the list is ahead of the timeline, which the next change shows; or the label begins nothing
	case tracked && item.ID == 0 && len(asked) > 0 && !item.State.Open():
		h.backlog[is.Number] = true // the ended work that this slice adopted gets its rows first
		return nil
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
	if item, err = h.updateText(ctx, item, is, timeline, again.Name); err != nil {
		return err
	}
	if !wanted && (item.State == work.StatePending || item.State == work.StateAwaitingIssueFollowup) {
		t, ok := lastEvent(timeline, "unlabeled", item.Label)
		if ok && (!item.Replans() || !t.CreatedAt.Before(item.Since)) { // a merged roadmap needs no label
			h.addToIssue(is.Number, timelineEvent(item, work.EventClosed, is.Number, t, "unlabelled"))
		}
	}
	if relabelled && is.State == "open" { // on a closed issue the label counts once it is reopened
		item.Label, item.LabelEvent = again.Name, strconv.FormatInt(again.set.ID, 10)
		h.putItem(item)
		h.addToIssue(is.Number, timelineEvent(item, work.EventLabelled, is.Number, again.set, again.Name))
	}
	h.changes(item, is.Number, timeline)
	return nil
}

// needsMoreReads reports whether the issue needs more reads than its list. A roadmap that is paused is
// found again after the database was lost, or nothing would keep what is below it from beginning.
func (h *reading) needsMoreReads(item work.Item, tracked bool, is github.Issue) bool {
	if tracked {
		return !h.unchanged(item, is)
	}
	label, wanted := h.repo.Settings.FlowOf(is.Labels)
	ignored := work.HasLabel(is.Labels, h.repo.Settings.Labels.Ignore)
	return wanted && is.State == "open" && (!ignored || label.Flow == work.FlowRoadmap)
}

// begin tracks an issue, with the labelling that asked for it and all earlier comments.
func (h *reading) begin(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, again bool) error {
	item := newItem(h, is, label)
	item.LabelEvent = strconv.FormatInt(labelled.ID, 10)
	item, err := h.updateText(ctx, item, is, timeline, label.Name)
	if err != nil {
		return err
	}
	h.addToIssue(is.Number, timelineEvent(item, work.EventLabelled, is.Number, labelled, label.Name))
	if again {
		return nil // the comments are in the database
	}
	talk, err := h.wholeTalk(ctx, is.Number)
	if err != nil {
		return err
	}
	h.noteIssueTalk(item, talk)
	return nil
}

// updateText ingests the text of an issue that the newest setting of label confirms. An empty label
// means the item's label.
func (h *reading) updateText(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent, label string) (work.Item, error) {
	by := item
	by.Label = cmp.Or(label, item.Label)
	c, err := h.confirmText(ctx, by, is, timeline)
	if err != nil {
		return item, err
	}
	item = refreshed(item, is, c, timelineSettled(is, timeline, h.now()), h.now())
	if was := item.SubIssueOf; was != "" { // taken out of it, or that was deleted
		h.parents[strings.ToLower(was)] = true
	}
	item.SubIssueOf = h.called(is.Parent)
	h.putItem(item)
	return item, nil
}

// refreshed returns item with the issue's current text and state.
func refreshed(item work.Item, is github.Issue, c confirmed, settled bool, now time.Time) work.Item {
	item.Title, item.Body, item.Edited, item.Author, item.URL = c.Title, c.Body, c.Edited, is.Author, is.URL
	item.IssueClosed = is.State != "open"
	if is.Blockers.All > 0 || !item.Blocked.LookAt.IsZero() {
		item.Blocked.LookAt = now
	}
	item.Fingerprint = ""
	if settled {
		item.Fingerprint = fingerprint(is)
	}
	return item
}

// unchanged reports whether an issue has not changed since its timeline was last read. One change
// makes the whole list be read again; that must not cost a request per issue. See timelineSettled.
func (h *reading) unchanged(item work.Item, is github.Issue) bool {
	return item.Fingerprint != "" && item.Fingerprint == fingerprint(is)
}

func fingerprint(is github.Issue) string {
	return work.ContentHash(is.State, is.Title, is.Body, strings.Join(is.Labels, "\n"), is.UpdatedAt.UTC().Format(time.RFC3339), fmt.Sprint(is.Blockers), is.Parent)
}

// changes adds events for closings and reopenings after the labelling that began the item.
func (h *reading) changes(item work.Item, number int, timeline []github.TimelineEvent) {
	for _, t := range timeline {
		kind := work.EventClosed
		switch {
		case t.Event == "reopened":
			kind = work.EventReopened
		case t.Event != "closed":
			continue
		}
		if newer(t, item) {
			h.addToIssue(number, timelineEvent(item, kind, number, t, ""))
		}
	}
}

// newer reports whether a timeline event came after the labelling that began the item. Labellings,
// closings and reopenings are issue events, whose ids rise.
func newer(t github.TimelineEvent, item work.Item) bool {
	began, err := strconv.ParseInt(item.LabelEvent, 10, 64)
	if err != nil {
		return true
	}
	return t.ID > began
}

// longestLag is how long a timeline may differ from the list read before it. A timeline keeps the
// old name of a renamed label, so it differs for good.
const longestLag = 10 * time.Minute

// againSoon queues an issue for another read because its timeline does not yet show the label that
// the list shows.
func (h *reading) againSoon(is github.Issue) {
	if h.now().Sub(is.UpdatedAt) < longestLag {
		h.backlog[is.Number] = true
	}
}

// noteLag queues an issue for another read if its timeline does not yet show what the list shows:
// otherwise the list's ETag would be stored, and no later pass would see the label.
//
// A label removed and set again looks the same in the list. So an issue that may be ahead of its
// timeline is read a second time, but not a third: when it changed after its newest timeline entry,
// and when its label begins nothing.
func (h *reading) noteLag(is github.Issue, timeline []github.TimelineEvent, idle bool) {
	again := slices.Contains(h.known.backlog, is.Number)
	may := idle || changedAfter(is, timeline)
	if h.now().Sub(is.UpdatedAt) < longestLag && (lags(h.repo.Settings, is, timeline) || may && !again) {
		h.backlog[is.Number] = true
	}
}

// stampLag is how long after a change another one with the same stamp may appear: stamps are whole
// seconds, and lists and timelines lag behind each other.
const stampLag = 30 * time.Second

// timelineSettled reports whether a timeline shows everything that its list shows, so that it need
// not be read again before the issue changes. It does once the issue's last change is old. It does
// sooner if the timeline has an entry for that change and was read at least stampLag after it.
func timelineSettled(is github.Issue, timeline []github.TimelineEvent, now time.Time) bool {
	age := now.Sub(is.UpdatedAt)
	return age > overlap || age > stampLag && !changedAfter(is, timeline)
}

// changedAfter reports whether an issue changed after the newest entry of its timeline: by an entry
// that is not shown yet, or by an edit, which makes none.
func changedAfter(is github.Issue, timeline []github.TimelineEvent) bool {
	return !slices.ContainsFunc(timeline, func(t github.TimelineEvent) bool { return !t.CreatedAt.Before(is.UpdatedAt) })
}

// lags reports whether the timeline contradicts the list about our labels or about whether the
// issue is open.
func lags(settings config.Repo, is github.Issue, timeline []github.TimelineEvent) bool {
	for _, l := range settings.FlowLabels() {
		on := false
		for _, t := range timeline {
			if strings.EqualFold(t.Label, l.Name) {
				on = t.Event == "labeled" || on && t.Event != "unlabeled"
			}
		}
		if !on && work.HasLabel(is.Labels, l.Name) {
			return true
		}
	}
	closed := false
	for _, t := range timeline {
		closed = t.Event == "closed" || closed && t.Event != "reopened"
	}
	return closed != (is.State != "open")
}

func newItem(h *reading, is github.Issue, label config.FlowLabel) work.Item {
	return work.Item{
		RepoID: h.row.ID, Number: is.Number, Flow: label.Flow, State: work.StatePending, Since: h.now(),
		Label: label.Name, Priority: priority(is.Labels), SubIssueOf: h.called(is.Parent),
	}
}

// priority reads the label priority:N, 1 to 5.
func priority(labels []string) int {
	for _, l := range labels {
		if n, ok := priorityOf(l); ok {
			return n
		}
	}
	return work.DefaultPriority
}

func priorityOf(label string) (int, bool) {
	var n int
	if _, err := fmt.Sscanf(label, "priority:%d", &n); err != nil || label != fmt.Sprintf("priority:%d", n) {
		return 0, false
	}
	return n, n >= 1 && n <= 5
}
