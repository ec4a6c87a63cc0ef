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

// issueRead is an issue as it was read, with its newest work item. It does not change.
type issueRead struct {
	github.Issue
	item     work.Item // without number: there is none
	timeline []github.TimelineEvent
}

func (r issueRead) tracked() bool { return r.item.Number != 0 }
func (r issueRead) open() bool    { return r.State == "open" }

// listedIssue returns an issue of a list, without its timeline.
func (h *reading) listedIssue(ctx context.Context, is github.Issue) issueRead {
	r := issueRead{Issue: is}
	if item, tracked := h.item(ctx, is.Number); tracked {
		r.item = item
	}
	return r
}

// issueWhole reads an issue that no list showed, and its timeline; without number: it is gone.
func (h *reading) issueWhole(ctx context.Context, number int) (issueRead, error) {
	is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, number)
	if err != nil || !ok {
		return issueRead{}, err
	}
	r := h.listedIssue(ctx, is)
	r.timeline, err = h.repo.GitHub.TimelineOf(ctx, h.row.Current, number)
	return r, err
}

// takeIssue begins to track an issue with one of our labels, and ingests changes of a tracked one.
func (h *reading) takeIssue(ctx context.Context, r issueRead) error {
	h.noteIssuePauses(r, r.item.Flow)
	label, wanted := h.repo.Settings.FlowOf(r.Labels)
	ignored := work.HasLabel(r.Labels, h.repo.Settings.Labels.Ignore)
	if !r.tracked() && ignored { // a roadmap: see needsTimeline
		_, err := h.adoptEnded(ctx, r, r.labelled(label))
		return err
	}
	asked, err := h.flowsAsked(ctx, r)
	if err != nil {
		return err
	}
	if len(asked) > 0 && ignored && r.open() && !r.item.State.Open() {
		h.noteIgnored(r, asked[0].Name)
	}
	h.noteLag(r, wanted && r.open() && len(asked) == 0 && (!r.tracked() || !r.item.State.Open()))
	if !r.tracked() && len(asked) > 0 {
		if err := h.findRoadmapAbove(ctx, r.Issue); err != nil {
			return err
		}
	}
	switch {
	case !r.tracked() && len(asked) == 0:
		return nil // the list is ahead of the timeline, which the next change shows; or the label begins nothing
	case r.tracked() && r.item.ID == 0 && len(asked) > 0 && !r.item.State.Open():
		h.again(r.Number) // the ended work that this slice adopted gets its rows first
		return nil
	case !r.tracked(), len(asked) > 0 && !ignored && r.open() && !r.item.State.Open():
		return h.begin(ctx, r, asked)
	case h.swapped(ctx, r, asked) && !ignored:
		h.withdraw(r)
		return h.begin(ctx, r, asked)
	}
	return h.updateItem(ctx, r, asked, wanted)
}

// noteListedIssue notes what the list of issues alone shows, and reports whether the issue is to be read.
func (h *reading) noteListedIssue(r issueRead) bool {
	h.noteNearLabel(r.Issue, r.item.Flow)
	labels := h.repo.Settings.Labels
	label, wanted := h.repo.Settings.FlowOf(r.Labels)
	switch {
	case r.tracked():
		if r.item.IssueClosed == r.open() {
			ref := work.Dependency{Repo: h.repo.Name, Number: r.Number}.String()
			h.put(func(ctx context.Context, tx *store.Tx, now time.Time) error { // what waits for it
				return errors.Join(tx.WakeBlocked(ctx, h.row.ID, ref, now), tx.WakeRoadmaps(ctx, h.row.ID, ref, now))
			})
		}
	case wanted && r.open() && work.HasLabel(r.Labels, labels.Ignore):
		if h.repo.Ignored == nil {
			h.repo.Ignored = map[int]work.Flow{}
		}
		h.repo.Ignored[r.Number] = label.Flow
		h.noteIgnored(r, label.Name)
	case wanted && !r.open() && !work.HasLabel(r.Labels, labels.Done): // which work that ended has
		h.putNearLabel(store.NearLabel{Number: r.Number, Set: label.Name, At: r.UpdatedAt})
	}
	return h.needsTimeline(r)
}

// needsTimeline reports whether the list of issues does not say enough of one. A roadmap that is paused is
// found again after the database was lost, or nothing would keep what is below it from beginning. What changes on an
// issue that was closed and whose work is over counts once it is reopened.
func (h *reading) needsTimeline(r issueRead) bool {
	ignored := work.HasLabel(r.Labels, h.repo.Settings.Labels.Ignore)
	label, wanted := h.repo.Settings.FlowOf(r.Labels)
	if r.tracked() {
		c := h.numbers[r.Number]
		over := r.item.IssueClosed && !r.open() && !r.item.State.Open() && r.item.Title == r.Title && c != nil && !c.waited && !ignored
		starts := wanted && ignored && !r.item.State.Open() // once people remove the ignore label
		return !over && (starts || !unchanged(r.item, r.Issue))
	}
	return wanted && r.open() && (!ignored || label.Flow == work.FlowRoadmap)
}

// begin tracks an issue in the flow of the label that was set first, with the labelling that asked for it and all
// earlier comments. It skips a label whose work ended before the database was lost.
func (h *reading) begin(ctx context.Context, r issueRead, asked []flowAsked) error {
	for len(asked) > 1 {
		past, known, err := h.pastPull(ctx, r, asked[0], "")
		if err != nil {
			return err
		}
		if known || past.Number == 0 || past.State == work.PullOpen || setAfter(asked[0].set, past.Pull) {
			break
		}
		asked = asked[1:]
	}
	first := asked[0]
	if ended, err := h.adoptEnded(ctx, r, first); ended || err != nil {
		return err
	}
	item := h.newItem(r.Issue, first.FlowLabel)
	for _, other := range asked[1:] {
		h.declineSecondLabel(item, other, "")
	}
	item.LabelEvent = strconv.FormatInt(first.set.ID, 10)
	item, err := h.updateText(ctx, item, r, first.Name)
	if err != nil {
		return err
	}
	h.add(timelineEvent(item, work.EventLabelled, r.Number, first.set, first.Name))
	if r.tracked() || r.ID != 0 && r.Comments == 0 {
		return nil // the comments are in the database, or there are none
	}
	talk, err := h.wholeTalk(ctx, r.Number)
	if err != nil {
		return err
	}
	h.addTalk(work.EventSource, item.ID, talk)
	return nil
}

// updateItem ingests what changed on a tracked issue.
func (h *reading) updateItem(ctx context.Context, r issueRead, asked []flowAsked, wanted bool) error {
	// The label of the item's own flow may be set again, also under a name that the config changed.
	item, label := r.item, r.item.Label
	again := slices.IndexFunc(asked, func(a flowAsked) bool {
		return strings.EqualFold(a.Name, item.Label) || follows(item.Flow, a.Flow) && !work.HasLabel(r.Labels, item.Label)
	})
	if again >= 0 {
		label = asked[again].Name
	}
	item, err := h.updateText(ctx, item, r, label)
	if err != nil {
		return err
	}
	if !wanted && (item.State == work.StatePending || item.State == work.StateAwaitingIssueFollowup) {
		t, ok := lastEvent(r.timeline, "unlabeled", item.Label)
		if ok && (!item.Replans() || !t.CreatedAt.Before(item.Since)) { // a merged roadmap needs no label
			h.add(timelineEvent(item, work.EventClosed, r.Number, t, "unlabelled"))
		}
	}
	if again >= 0 && r.open() && item.State.Open() { // on a closed issue the label counts once it is reopened, in a pause once that ends
		set := asked[again].set
		item.Label, item.LabelEvent = label, strconv.FormatInt(set.ID, 10)
		h.items[item.Number] = item
		h.add(timelineEvent(item, work.EventLabelled, r.Number, set, label))
	}
	for _, t := range r.timeline { // closings and reopenings after the labelling that began the item
		kind := work.EventClosed
		if t.Event == "reopened" {
			kind = work.EventReopened
		}
		if (t.Event == "closed" || t.Event == "reopened") && newer(t, item) {
			h.add(timelineEvent(item, kind, item.Number, t, ""))
		}
	}
	return nil
}

// updateText ingests the text of an issue that the newest setting of label confirms. An empty label
// means the item's label.
func (h *reading) updateText(ctx context.Context, item work.Item, r issueRead, label string) (work.Item, error) {
	item, err := h.confirmText(ctx, item, cmp.Or(label, item.Label), r)
	if err != nil {
		return item, err
	}
	item.Author, item.URL = r.Author, r.URL
	item.IssueClosed, item.SubIssueOf, item.Fingerprint = !r.open(), h.called(r.Parent), ""
	if item.ID == 0 && r.Blockers.All > 0 || r.Blockers.Open != item.Blocked.Open {
		item.Blocked.LookAt = h.now()
	}
	// The timeline need not be read again before the issue changes if it shows all that the list shows. It does once
	// the issue's last change is old, and sooner if it has an entry for that change and was read at least stampLag
	// after it.
	if age := h.now().Sub(r.UpdatedAt); age > overlap || age > stampLag && !r.changedAfter() {
		item.Fingerprint = fingerprint(r.Issue)
	}
	h.items[item.Number] = item
	return item, nil
}

// unchanged reports whether an issue has not changed since its timeline was last read. One change
// makes the whole list be read again; that must not cost a request per issue.
func unchanged(item work.Item, is github.Issue) bool {
	return item.Fingerprint != "" && item.Fingerprint == fingerprint(is)
}

func fingerprint(is github.Issue) string {
	return work.ContentHash(is.State, is.Title, is.Body, strings.Join(is.Labels, "\n"), is.UpdatedAt.UTC().Format(time.RFC3339), fmt.Sprint(is.Blockers.Open, is.Blockers.All), is.Parent)
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
func (h *reading) noteLag(r issueRead, idle bool) {
	again := h.numberOf(r.Number).Again
	may := idle || r.changedAfter()
	if h.now().Sub(r.UpdatedAt) < longestLag && (r.lags(h.repo.Settings.FlowLabels()) || may && !again) {
		h.again(r.Number)
	}
}

// stampLag is how long after a change another one with the same stamp may appear: stamps are whole
// seconds, and lists and timelines lag behind each other.
const stampLag = 30 * time.Second

// changedAfter reports whether an issue changed after the newest entry of its timeline: by an entry
// that is not shown yet, or by an edit, which makes none.
func (r issueRead) changedAfter() bool {
	return !slices.ContainsFunc(r.timeline, func(t github.TimelineEvent) bool { return !t.CreatedAt.Before(r.UpdatedAt) })
}

// lags reports whether the timeline contradicts the list about our labels or about whether the
// issue is open.
func (r issueRead) lags(ours []config.FlowLabel) bool {
	closed, on := false, map[string]bool{}
	for _, t := range r.timeline {
		switch t.Event {
		case "labeled", "unlabeled":
			on[strings.ToLower(t.Label)] = t.Event == "labeled"
		case "closed", "reopened":
			closed = t.Event == "closed"
		}
	}
	missing := func(l config.FlowLabel) bool { return work.HasLabel(r.Labels, l.Name) && !on[strings.ToLower(l.Name)] }
	return closed == r.open() || slices.ContainsFunc(ours, missing)
}

func (h *reading) newItem(is github.Issue, label config.FlowLabel) work.Item {
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
