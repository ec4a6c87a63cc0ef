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
	"github.com/mergexo/gh-mergexo/store"
)

// intakeIssue begins to track an issue with one of our labels, and ingests changes of a tracked
// one.
func (h *reading) intakeIssue(ctx context.Context, c *number) (err error) {
	is := *c.issue
	item, tracked := h.item(ctx, is.Number)
	label, wanted := h.repo.Settings.FlowOf(is.Labels)
	ignored := work.HasLabel(is.Labels, h.repo.Settings.Labels.Ignore)
	if !tracked && wanted && ignored && is.State == "open" {
		if h.repo.Ignored == nil {
			h.repo.Ignored = map[int]work.Flow{}
		}
		h.repo.Ignored[is.Number] = label.Flow
	}
	if !tracked && wanted && is.State != "open" && !work.HasLabel(is.Labels, h.repo.Settings.Labels.Done) { // which work that ended has
		h.putNearLabel(store.NearLabel{Number: is.Number, Set: label.Name, At: is.UpdatedAt})
	}
	if tracked && item.IssueClosed != (is.State != "open") {
		ref := work.Dependency{Repo: h.repo.Name, Number: is.Number}.String()
		h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error { // what waits for it
			return errors.Join(tx.WakeBlocked(ctx, h.row.ID, ref, now), tx.WakeRoadmaps(ctx, h.row.ID, ref, now))
		})
	}
	if !h.needsMoreReads(item, tracked, is) {
		return nil
	}
	var timeline []github.TimelineEvent
	if c.timeline != nil {
		timeline, c.timeline = *c.timeline, nil
	} else if timeline, err = h.repo.GitHub.TimelineOf(ctx, h.row.Current, is.Number); err != nil {
		return err
	}
	h.noteIssuePauses(is, item.Flow, timeline)
	if !tracked && ignored { // a roadmap: see needsMoreReads
		labelled, _ := lastEvent(timeline, "labeled", label.Name)
		_, err := h.adoptEnded(ctx, is, label, labelled, timeline)
		return err
	}
	asked, err := h.flowsAsked(ctx, item, is, timeline)
	if err != nil {
		return err
	}
	asked = h.declineRoadmaps(ctx, item, is, asked)
	h.noteLag(is, timeline, wanted && is.State == "open" && len(asked) == 0 && (!tracked || !item.State.Open()))
	if !tracked && len(asked) > 0 {
		if err := h.findRoadmapAbove(ctx, is); err != nil {
			return err
		}
	}
	switch {
	case !tracked && len(asked) == 0:
		return nil // the list is ahead of the timeline, which the next change shows; or the label begins nothing
	case tracked && item.ID == 0 && len(asked) > 0 && !item.State.Open():
		h.again(is.Number) // the ended work that this slice adopted gets its rows first
		return nil
	case !tracked, len(asked) > 0 && !ignored && is.State == "open" && !item.State.Open():
		return h.beginFirst(ctx, is, asked, timeline, tracked)
	}
	if h.swapped(ctx, item, is, asked) && !ignored {
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
			h.add(timelineEvent(item, work.EventClosed, is.Number, t, "unlabelled"))
		}
	}
	if relabelled && is.State == "open" { // on a closed issue the label counts once it is reopened
		item.Label, item.LabelEvent = again.Name, strconv.FormatInt(again.set.ID, 10)
		h.items[item.Number] = item
		h.add(timelineEvent(item, work.EventLabelled, is.Number, again.set, again.Name))
	}
	h.changes(item, timeline)
	return nil
}

// needsMoreReads reports whether the issue needs more reads than its list. A roadmap that is paused is
// found again after the database was lost, or nothing would keep what is below it from beginning. What changes on an
// issue that was closed and whose work is over counts once it is reopened.
func (h *reading) needsMoreReads(item work.Item, tracked bool, is github.Issue) bool {
	if tracked {
		c := h.numbers[is.Number]
		over := item.IssueClosed && is.State != "open" && !item.State.Open() && item.Title == is.Title && c != nil && !c.waited &&
			!work.HasLabel(is.Labels, h.repo.Settings.Labels.Ignore)
		return !over && !h.unchanged(item, is)
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
	h.add(timelineEvent(item, work.EventLabelled, is.Number, labelled, label.Name))
	if again || is.ID != 0 && is.Comments == 0 {
		return nil // the comments are in the database, or there are none
	}
	talk, err := h.wholeTalk(ctx, is.Number)
	if err != nil {
		return err
	}
	h.addTalk(work.EventSource, item.ID, talk)
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
	item.Title, item.Body, item.Edited, item.Author, item.URL = c.Title, c.Body, c.Edited, is.Author, is.URL
	item.IssueClosed, item.SubIssueOf, item.Fingerprint = is.State != "open", h.called(is.Parent), ""
	if item.ID == 0 && is.Blockers.All > 0 || is.Blockers.Open != item.Blocked.Open {
		item.Blocked.LookAt = h.now()
	}
	if timelineSettled(is, timeline, h.now()) {
		item.Fingerprint = fingerprint(is)
	}
	h.items[item.Number] = item
	return item, nil
}

// unchanged reports whether an issue has not changed since its timeline was last read. One change
// makes the whole list be read again; that must not cost a request per issue. See timelineSettled.
func (h *reading) unchanged(item work.Item, is github.Issue) bool {
	return item.Fingerprint != "" && item.Fingerprint == fingerprint(is)
}

func fingerprint(is github.Issue) string {
	return work.ContentHash(is.State, is.Title, is.Body, strings.Join(is.Labels, "\n"), is.UpdatedAt.UTC().Format(time.RFC3339), fmt.Sprint(is.Blockers.Open, is.Blockers.All), is.Parent)
}

// changes adds events for closings and reopenings after the labelling that began the item.
func (h *reading) changes(item work.Item, timeline []github.TimelineEvent) {
	for _, t := range timeline {
		kind := work.EventClosed
		switch {
		case t.Event == "reopened":
			kind = work.EventReopened
		case t.Event != "closed":
			continue
		}
		if newer(t, item) {
			h.add(timelineEvent(item, kind, item.Number, t, ""))
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

// noteLag queues an issue for another read if its timeline does not yet show what the list shows:
// otherwise the list's ETag would be stored, and no later pass would see the label.
//
// A label removed and set again looks the same in the list. So an issue that may be ahead of its
// timeline is read a second time, but not a third: when it changed after its newest timeline entry,
// and when its label begins nothing.
func (h *reading) noteLag(is github.Issue, timeline []github.TimelineEvent, idle bool) {
	again := h.numberOf(is.Number).Again
	may := idle || changedAfter(is, timeline)
	if h.now().Sub(is.UpdatedAt) < longestLag && (lags(h.repo.Settings, is, timeline) || may && !again) {
		h.again(is.Number)
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
		if n, ok := strings.CutPrefix(l, "priority:"); ok && len(n) == 1 && n >= "1" && n <= "5" {
			return int(n[0] - '0')
		}
	}
	return work.DefaultPriority
}
