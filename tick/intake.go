package tick

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// firstSight reads the open issues that carry a label already, once for each
// label: the walks only show what changes from now on.
func (h *Issues) firstSight(ctx context.Context) error {
	for _, label := range flowLabels(h.r.Settings) {
		if slices.Contains(h.known.labels, label.name) {
			continue
		}
		address := func(repo work.RepoName, since time.Time) string {
			return github.LabelledIssuesURL(repo, label.name, since)
		}
		w := walk[github.Issue]{walkLabel + label.name, address, h.r.GitHub.ListIssues, nil, func(i github.Issue) time.Time { return i.UpdatedAt }}
		issues, whole, err := w.read(ctx, h.harvest)
		if err != nil {
			return fmt.Errorf("read the issues labelled %q: %w", label.name, err)
		}
		delete(h.pages, w.name) // they are read once
		h.listedIssues = append(h.listedIssues, issues...)
		if whole {
			h.labels = append(h.labels, label.name)
		}
	}
	return nil
}

type flowLabel struct {
	name string
	flow work.Flow
}

// flowLabels are the labels that start something, in order of precedence.
func flowLabels(r config.Repo) []flowLabel {
	return []flowLabel{
		{r.Labels.Bugfix, work.FlowBugfix},
		{r.Labels.SmallJob, work.FlowSmallJob},
		{r.Labels.Design, work.FlowDesign},
	}
}

// flowOf is the flow that an issue's labels ask for. Whether people have taken
// it over is another question.
func flowOf(r config.Repo, labels []string) (flowLabel, bool) {
	for _, l := range flowLabels(r) {
		if work.HasLabel(labels, l.name) {
			return l, true
		}
	}
	return flowLabel{}, false
}

// intakeIssues looks at what changed among issues and pull requests, and first at
// what earlier passes had no time for.
func (h *Issues) intakeIssues(ctx context.Context) error {
	listed, order := map[int]github.Issue{}, slices.Clone(h.known.backlog)
	for _, is := range h.listedIssues {
		if last, again := listed[is.Number]; !again || !is.UpdatedAt.Before(last.UpdatedAt) {
			listed[is.Number] = is
		}
		order = append(order, is.Number)
	}
	seen := map[int]bool{}
	for _, n := range order {
		if seen[n] {
			continue
		}
		seen[n] = true
		is, ok := listed[n]
		if err := h.takeNumber(ctx, n, is, ok); err != nil {
			return err
		}
	}
	return nil
}

// takeNumber takes in an issue or a pull request that was listed, whole or not at
// all: then it is tried again, after the others.
func (h *Issues) takeNumber(ctx context.Context, n int, is github.Issue, listed bool) error {
	waited, tried := slices.Contains(h.known.backlog, n), ctx.Err() == nil
	items, events, comments := maps.Clone(h.items), len(h.events), len(h.listedComments)
	err := h.intakeNumber(ctx, n, is, listed)
	if err == nil {
		if waited && !h.backlog[n] {
			h.backlog[n] = false
		}
		return nil
	}
	h.items, h.events, h.listedComments = items, h.events[:events], h.listedComments[:comments]
	for pull, issue := range h.adopted {
		if _, known := items[issue]; issue == n && !known {
			delete(h.adopted, pull)
			delete(h.pullRows, pull)
			delete(h.open, pull)
			delete(h.promoted, n)
		}
	}
	if tried || !waited {
		h.backlog[n] = true
	}
	if late(err) {
		h.cut(err)
		return nil
	}
	return h.isolate(err, "read issue #%d", n)
}

func (h *Issues) intakeNumber(ctx context.Context, n int, is github.Issue, listed bool) (err error) {
	if !listed {
		if is, listed, err = h.r.GitHub.Issue(ctx, h.repo.Current, n); err != nil || !listed {
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
	pull, ok, err := h.pull(ctx, is.Number)
	if err != nil {
		return err
	}
	if !ok {
		return h.rebuild.adoptReopened(ctx, is)
	}
	if pull.State == work.PullClosed && (is.State == "open" || changedSince(pull, is)) {
		pull.Fingerprint = "" // that of the last time may have been this one
		h.open[is.Number] = pull
		h.lights[is.Number] = github.PullLight{Fingerprint: "changed"} // differs from what a sweep says
	}
	return nil
}

// changedSince reports whether a pull request may have changed since its details
// were read. Two changes in one second share a stamp, so that of one that was
// read soon after it proves nothing.
func changedSince(pull work.PullRequest, is github.Issue) bool {
	soon := pull.DetailsAt.Sub(pull.UpdatedAt) < overlap
	return is.UpdatedAt.After(pull.UpdatedAt) || soon && is.UpdatedAt.Equal(pull.UpdatedAt)
}

// intakeIssue begins to track an issue with one of our labels, and notes what
// became of one that is tracked.
func (h *Issues) intakeIssue(ctx context.Context, is github.Issue) error {
	item, tracked, err := h.item(ctx, is.Number)
	if err != nil {
		return err
	}
	label, wanted := flowOf(h.r.Settings, is.Labels)
	ignored := work.HasLabel(is.Labels, h.r.Settings.Labels.Ignore)
	if !tracked && wanted && ignored && is.State == "open" {
		if h.r.ignored == nil {
			h.r.ignored = map[int]work.Flow{}
		}
		h.r.ignored[is.Number] = label.flow
	}
	if !tracked && (!wanted || ignored || is.State != "open") || tracked && h.unchanged(item, is) {
		return nil
	}
	timeline, err := h.r.GitHub.TimelineOf(ctx, h.repo.Current, is.Number)
	if err != nil {
		return err
	}
	h.comments.issueTaken(is, timeline)
	if err := h.missInTimeline(ctx, is.Number, item.ID, timeline); err != nil {
		return err
	}
	asked, err := h.flowsAsked(ctx, item, is, timeline)
	h.noteLag(is, timeline, wanted && is.State == "open" && len(asked) == 0 && (!tracked || !item.State.Open()))
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
	if item, err = h.retell(ctx, item, is, timeline, again.name); err != nil {
		return err
	}
	if !wanted && (item.State == work.StatePending || item.State == work.StateAwaitingIssueFollowup) {
		if t, ok := last(timeline, "unlabeled", item.Label); ok {
			h.add(fact(item, work.EventClosed, is.Number, t, "unlabelled"))
		}
	}
	if relabelled && is.State == "open" { // one of a closed issue counts once it is reopened
		item = h.items[is.Number]
		item.Label, item.LabelEvent = again.name, strconv.FormatInt(again.set.ID, 10)
		h.items[is.Number] = item
		h.add(fact(item, work.EventLabelled, is.Number, again.set, again.name))
	}
	h.changes(item, is.Number, timeline)
	return nil
}

// begin tracks an issue: with the labelling that asked for it, and everything
// that was said before.
func (h *Issues) begin(ctx context.Context, is github.Issue, label flowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, again bool) error {
	item := h.rebuild.newItem(is, label)
	item.LabelEvent = strconv.FormatInt(labelled.ID, 10)
	item, err := h.retell(ctx, item, is, timeline, label.name)
	if err != nil {
		return err
	}
	h.add(fact(h.items[is.Number], work.EventLabelled, is.Number, labelled, label.name))
	if again {
		return nil // what was said is in the database
	}
	comments, err := h.r.GitHub.CommentsOf(ctx, h.repo.Current, is.Number, time.Time{})
	if err != nil {
		return err
	}
	h.listedComments = append(h.listedComments, comments...)
	return nil
}

// retell takes over what people may change about an issue, as far as it counts:
// since the newest setting of the label, the item's or the one that is wanted.
func (h *Issues) retell(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent, label string) (work.Item, error) {
	by := item
	by.Label = cmp.Or(label, item.Label)
	c, err := h.confirmText(ctx, by, is, timeline)
	if err != nil {
		return item, err
	}
	h.refresh(item, is, c)
	return h.items[is.Number], nil
}

// refresh takes over what people may change about an issue.
func (h *Issues) refresh(item work.Item, is github.Issue, c confirmed) {
	item.Title, item.Body, item.Edited, item.Author, item.URL = c.title, c.body, c.edited, is.Author, is.URL
	item.IssueClosed = is.State != "open"
	item.Fingerprint = ""
	if h.now().Sub(is.UpdatedAt) > overlap {
		item.Fingerprint = fingerprint(is)
	}
	h.items[is.Number] = item
}

// unchanged reports whether nothing about an issue differs from when its
// timeline was last read. A list is read again as a whole when anything in it
// changed; that must not cost a request for each issue. A fingerprint is only
// kept once the issue has been quiet for a while, because two changes in one
// second share a stamp.
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
			h.add(fact(item, kind, number, t, ""))
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

// fact makes the event of something that happened on a timeline.
func fact(item work.Item, kind work.EventKind, number int, t github.TimelineEvent, state string) candidate {
	id := strconv.FormatInt(t.ID, 10)
	hash := work.ContentHash(string(kind), state)
	return candidate{event: work.Event{
		ItemID: item.ID, Number: number, Kind: kind, Source: id, Hash: hash, Key: work.EventKey(number, kind, id, hash),
		Author: t.Actor, State: state, CreatedAt: t.CreatedAt, UpdatedAt: t.CreatedAt,
	}}
}

func (h *harvest) add(c candidate) { c.event = work.AsCommand(c.event); h.events = append(h.events, c) }

// last finds the newest event of a kind on a timeline.
func last(timeline []github.TimelineEvent, event, label string) (github.TimelineEvent, bool) {
	for _, t := range slices.Backward(timeline) {
		if t.Event == event && (label == "" || strings.EqualFold(t.Label, label)) {
			return t, true
		}
	}
	return github.TimelineEvent{}, false
}

// defaultPriority is that of an issue without a priority label.
const defaultPriority = 3

// priority reads the label priority:N, 1 to 5.
func priority(labels []string) int {
	for _, l := range labels {
		if n, ok := priorityOf(l); ok {
			return n
		}
	}
	return defaultPriority
}

func priorityOf(label string) (int, bool) {
	var n int
	if _, err := fmt.Sscanf(label, "priority:%d", &n); err != nil || label != fmt.Sprintf("priority:%d", n) {
		return 0, false
	}
	return n, n >= 1 && n <= 5
}
