package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/ingest/rebuild"
)

// The work on an issue is that of the label which stands there. Of several the one
// counts that was set first, so that one that is added later changes nothing; one
// that replaces another changes the flow, as long as there is no pull request. What
// begins nothing is told on the issue.

// flowAsked is a flow's label on an issue, with who set it, and when.
type flowAsked struct {
	batch.FlowLabel
	set github.TimelineEvent
}

// flowsAsked are the labels on an issue that somebody who may set after what began
// its item, in the order in which they were set.
func (h *Issues) flowsAsked(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent) ([]flowAsked, error) {
	var asked []flowAsked
	for _, l := range batch.FlowLabels(h.R.Settings) {
		if l.Name == "" || !work.HasLabel(is.Labels, l.Name) {
			continue
		}
		set, ok := batch.Last(timeline, "labeled", l.Name)
		if !ok || !newer(set, item) {
			continue
		}
		may, err := h.people.MaySetLabel(ctx, set.Actor, set.CreatedAt)
		if err != nil {
			return nil, err
		}
		if may {
			asked = append(asked, flowAsked{l, set})
		} else if is.State == "open" {
			h.declineLabel(item, is, set, l)
		}
	}
	slices.SortFunc(asked, func(a, b flowAsked) int { return cmp.Compare(a.set.ID, b.set.ID) })
	return asked, nil
}

// beginFirst begins what the first of the labels asks for, or the next one where the
// first was acted on by a pass whose database is gone.
func (h *Issues) beginFirst(ctx context.Context, is github.Issue, asked []flowAsked, timeline []github.TimelineEvent, again bool) error {
	for i, a := range asked {
		if i < len(asked)-1 {
			if past, err := h.rebuild.PastPull(ctx, is, a.FlowLabel, timeline); err != nil {
				return err
			} else if past.State != "" && past.State != work.PullOpen && !a.set.CreatedAt.After(past.ClosedAt) {
				continue
			}
		}
		if ended, err := h.rebuild.AdoptEnded(ctx, is, a.FlowLabel, a.set, timeline); ended || err != nil {
			return err
		}
		for _, other := range asked[i+1:] {
			h.tellSecond(batch.NewItem(h.Batch, is, a.FlowLabel), is, other, "")
		}
		return h.begin(ctx, is, a.FlowLabel, a.set, timeline, again)
	}
	return nil
}

// askedAgain finds the item's own flow among the labels: set again, or by the name
// that the config has now. Otherwise it is the item's label.
func askedAgain(asked []flowAsked, item work.Item, is github.Issue) (flowAsked, bool) {
	for _, a := range asked {
		own := strings.EqualFold(a.Name, item.Label)
		if own || rebuild.Follows(item.Flow, a.Flow) && !work.HasLabel(is.Labels, item.Label) {
			return a, true
		}
	}
	return flowAsked{FlowLabel: batch.FlowLabel{Name: item.Label, Flow: item.Flow}}, false
}

// swapped reports whether other labels replace the one that an open item goes by, and
// tells of those that do not count.
func (h *Issues) swapped(ctx context.Context, item work.Item, is github.Issue, asked []flowAsked) (bool, error) {
	others := slices.DeleteFunc(slices.Clone(asked), func(a flowAsked) bool { return rebuild.Follows(item.Flow, a.Flow) })
	if len(others) == 0 || !item.State.Open() || is.State != "open" {
		return false, nil
	}
	instead, err := h.underWay(ctx, item)
	if err != nil {
		return false, err
	}
	if instead == "" && !work.HasLabel(is.Labels, item.Label) && len(others) == len(asked) {
		return true, nil
	}
	for _, other := range others {
		h.tellSecond(item, is, other, instead)
	}
	return false, nil
}

// underWay says what of an item people see already: its pull request, or a branch
// whose pull request is opened at this moment; empty where they see nothing.
func (h *Issues) underWay(ctx context.Context, item work.Item) (what string, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		pull, has, err := tx.FindPullOfItem(ctx, item.ID)
		if err != nil || has {
			what = fmt.Sprintf("#%d is under way", pull.Number)
			return err
		}
		turns, err := tx.ListTurns(ctx, item.ID)
		if slices.ContainsFunc(turns, func(t work.Turn) bool { return t.Step == work.StepPushed || t.Step == work.StepApplied }) {
			what = "the pull request of the work before it is being opened"
		}
		return err
	})
	return what, err
}

// withdraw ends an item whose label was replaced.
func (h *Issues) withdraw(item work.Item, timeline []github.TimelineEvent) {
	t, ok := batch.Last(timeline, "unlabeled", item.Label)
	if !ok { // GitHub deletes a label without a word on the timeline
		t = github.TimelineEvent{ID: 0, CreatedAt: h.P.Now()}
	}
	c := batch.Fact(item, work.EventClosed, item.Number, t, "unlabelled")
	c.Former = true
	h.Add(c)
}

// tellSecond says on the issue that a label begins nothing, and how to switch: once
// for each time that one is set.
func (h *Issues) tellSecond(item work.Item, is github.Issue, other flowAsked, underWay string) {
	token := work.NoticeToken(h.Repo.Key(), is.Number, "second label "+strconv.FormatInt(other.set.ID, 10))
	body := fmt.Sprintf("The label `%s` starts nothing: `%s` was set first and counts. To switch, remove `%s`.", other.Name, item.Label, item.Label)
	if underWay != "" {
		body = fmt.Sprintf("The label `%s` starts nothing: %s. To switch, comment `/mergexo cancel`, then `/mergexo %s`.", other.Name, underWay, command.Of(other.Flow))
	}
	h.Declined = append(h.Declined, work.Action{
		RepoID: h.Repo.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: is.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a second label, " + other.Name,
	})
}
