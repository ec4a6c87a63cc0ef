package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// The flow of an issue is that of its label. Of several labels the first one set counts, so adding
// another changes nothing. Replacing the label changes the flow as long as there is no pull
// request. If a label begins nothing, a comment on the issue says so.

// flowAsked is a flow's label on an issue, with the event that set it.
type flowAsked struct {
	config.FlowLabel
	set github.TimelineEvent
}

// labelled returns a label with the event that set it last.
func (r issueRead) labelled(l config.FlowLabel) flowAsked {
	set, _ := lastEvent(r.timeline, "labeled", l.Name)
	return flowAsked{l, set}
}

// flowsAsked returns the labels of flows on an issue, set after the item began by people who may,
// in the order in which they were set.
func (h *reading) flowsAsked(ctx context.Context, r issueRead) ([]flowAsked, error) {
	var asked []flowAsked
	for _, l := range h.repo.Settings.FlowLabels() {
		if l.Name == "" || !work.HasLabel(r.Labels, l.Name) {
			continue
		}
		set, ok := lastEvent(r.timeline, "labeled", l.Name)
		if !ok || !newer(set, r.item) {
			continue
		}
		may, err := h.maySetLabel(ctx, set.Actor, set.CreatedAt)
		if err != nil {
			return nil, err
		}
		if may {
			asked = append(asked, flowAsked{l, set})
		} else if r.open() {
			h.declineLabel(r.item, r.Number, set, l)
		}
	}
	sorted.By(asked, func(a, b flowAsked) int { return cmp.Compare(a.set.ID, b.set.ID) })
	return h.declineRoadmaps(ctx, r, asked), nil
}

// swapped reports whether other labels replace an open item's label. For those that do not count it
// plans a comment.
func (h *reading) swapped(ctx context.Context, r issueRead, asked []flowAsked) bool {
	others := slices.DeleteFunc(slices.Clone(asked), func(a flowAsked) bool { return follows(r.item.Flow, a.Flow) })
	if len(others) == 0 || !r.item.State.Open() || !r.open() {
		return false
	}
	// Its pull request, or its branch while the pull request is being opened.
	instead := stored(ctx, h, func(ctx context.Context, tx *store.Tx) (string, error) {
		pull, has, err := tx.FindPullOfItem(ctx, r.item.ID)
		if err != nil || has {
			return fmt.Sprintf("#%d is under way", pull.Number), err
		}
		turns, err := tx.ListTurns(ctx, r.item.ID)
		if slices.ContainsFunc(turns, func(t work.Turn) bool { return t.Step == work.StepPushed || t.Step == work.StepApplied }) {
			return "the pull request of the work before it is being opened", err
		}
		return "", err
	})
	if instead == "" && !work.HasLabel(r.Labels, r.item.Label) && len(others) == len(asked) {
		return true
	}
	for _, other := range others {
		h.declineSecondLabel(r.item, other, instead)
	}
	return false
}

// withdraw ends an item whose label was replaced.
func (h *reading) withdraw(r issueRead) {
	t, ok := lastEvent(r.timeline, "unlabeled", r.item.Label)
	if !ok { // deleting a label leaves nothing on the timeline
		t = github.TimelineEvent{ID: 0, CreatedAt: h.now()}
	}
	c := timelineEvent(r.item, work.EventClosed, r.Number, t, "unlabelled")
	c.former = true
	h.add(c)
}

// declineSecondLabel plans a comment that a label begins nothing, and how to switch: once for each
// time a label is set.
func (h *reading) declineSecondLabel(item work.Item, other flowAsked, underWay string) {
	token := work.NoticeToken(h.row.Key(), item.Number, "second label "+strconv.FormatInt(other.set.ID, 10))
	first := fmt.Sprintf("`%s` was set first and counts", item.Label)
	body := fmt.Sprintf("The label `%s` starts nothing: %s. To switch, comment `/mergexo cancel`, then `/mergexo %s`.", other.Name, cmp.Or(underWay, first), work.CommandOf(other.Flow))
	h.declineOn(item.ID, item.Number, work.NeedRequired, token, body, "a second label, "+other.Name)
}

// declineRoadmaps drops the label of roadmaps from those asked for while the issue has a roadmap under
// way, and plans a comment that says so: a second one would make everything twice.
func (h *reading) declineRoadmaps(ctx context.Context, r issueRead, asked []flowAsked) []flowAsked {
	at := slices.IndexFunc(asked, func(a flowAsked) bool { return a.Flow == work.FlowRoadmap })
	if at < 0 || r.item.ID == 0 || r.item.State.Open() {
		return asked
	}
	live := stored(ctx, h, func(ctx context.Context, tx *store.Tx) ([]roadmap.Record, error) {
		return tx.ListRoadmaps(ctx, h.row.ID)
	})
	if !slices.ContainsFunc(live, func(m roadmap.Record) bool { return m.Number == r.Number && !m.State.Closes() }) {
		return asked
	}
	again := asked[at]
	token := work.NoticeToken(h.row.Key(), r.Number, "second roadmap "+strconv.FormatInt(again.set.ID, 10))
	body := fmt.Sprintf("The label `%s` starts nothing: this issue has a roadmap already. To change it, comment `/mergexo replan` and what is to change.", again.Name)
	h.declineOn(r.item.ID, r.Number, work.NeedRequired, token, body, "a second roadmap, "+again.Name)
	return slices.Delete(slices.Clone(asked), at, at+1)
}

// Work begins when a person sets a label, not when the label is there: an issue form sets it for
// anybody who opens an issue.

// declineLabel reports that a label begins nothing: in a comment once per person and repository,
// and in the log.
func (h *reading) declineLabel(item work.Item, number int, set github.TimelineEvent, label config.FlowLabel) {
	why := fmt.Sprintf("it was set in the name of %s, who has no triage permission on this repository, as an issue form does", set.Actor.Login)
	if set.Actor.Bot {
		why = fmt.Sprintf("the bot %s set it, and `allowed_users` in the config of gh mergexo does not name it", set.Actor.Login)
	}
	body := fmt.Sprintf("The label `%s` starts no work here: %s. To start, somebody with write permission comments `/mergexo %s`, "+
		"or somebody with triage permission removes the label and adds it again.", label.Name, why, work.CommandOf(label.Flow))
	h.refuseLabel(item, number, set, label.Name, "may not label ", body)
}

// refuseLabel notes that a label counts for nothing, and tells the person who set it: once in a repository.
func (h *reading) refuseLabel(item work.Item, number int, set github.TimelineEvent, label, why, body string) {
	refused := timelineEvent(item, work.EventLabelled, number, set, label)
	refused.event.Outcome = work.OutcomeNoLabeller
	h.add(refused)
	token := work.NoticeToken(h.row.Key(), 0, why+strconv.FormatInt(set.Actor.ID, 10))
	h.declineOn(item.ID, number, work.NeedCosmetic, token, body, "a label set by "+set.Actor.Login+", who may not triage")
}

// New users first reach for the labels that start and pause work, and GitHub's web interface offers
// only labels that the repository has. So each configured repository gets them, once: labels that
// people delete or change later stay as they are.

// storeRepoLabels plans the creation of the labels that the config names. An idle pass finds the
// row unchanged.
func (h *reading) storeRepoLabels(ctx context.Context, tx *store.Tx, now time.Time) error {
	wanted := work.Labelling{With: work.RepoLabels(h.repo.Settings.Labels)}
	if h.repo.Settings.Review.Enabled {
		wanted.With = append(wanted.With, work.ReviewLabels(h.repo.Settings.Labels)...)
	}
	if h.repo.Settings.Review.Merge.Auto {
		wanted.With = append(wanted.With, work.FreezeLabel(h.repo.Settings.Labels.Freeze))
	}
	// A repository created again under the same name is another one.
	a := wanted.Action(h.row, 0, 0, "repository "+h.row.NodeID)
	a.Kind, a.PlannedAt, a.Why = work.ActionRepoLabels, now, "the labels that start and pause work"
	known, ok, err := tx.GetAction(ctx, a.Token)
	if err != nil || ok && known.Body == a.Body {
		return err
	}
	return tx.RenewAction(ctx, a)
}
