package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/store"
)

// The work on an issue is that of the label which stands there. Of several the one
// counts that was set first, so that one that is added later changes nothing; one
// that replaces another changes the flow, as long as there is no pull request. What
// begins nothing is told on the issue.

// flowAsked is a flow's label on an issue, with who set it, and when.
type flowAsked struct {
	config.FlowLabel
	set github.TimelineEvent
}

// flowsAsked are the labels on an issue that somebody who may set after what began
// its item, in the order in which they were set.
func (h *reading) flowsAsked(ctx context.Context, item work.Item, is github.Issue, timeline []github.TimelineEvent) ([]flowAsked, error) {
	var asked []flowAsked
	for _, l := range h.repo.Settings.FlowLabels() {
		if l.Name == "" || !work.HasLabel(is.Labels, l.Name) {
			continue
		}
		set, ok := lastEvent(timeline, "labeled", l.Name)
		if !ok || !newer(set, item) {
			continue
		}
		may, err := h.permissions.maySetLabel(ctx, set.Actor, set.CreatedAt)
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
func (h *reading) beginFirst(ctx context.Context, is github.Issue, asked []flowAsked, timeline []github.TimelineEvent, again bool) error {
	for i, a := range asked {
		if i < len(asked)-1 {
			past, known, err := h.pastPull(ctx, is, a.FlowLabel, timeline)
			if err != nil {
				return err
			}
			if !known && past.Number != 0 && past.State != work.PullOpen && !a.set.CreatedAt.After(past.ClosedAt) {
				continue
			}
		}
		if ended, err := h.adoptEnded(ctx, is, a.FlowLabel, a.set, timeline); ended || err != nil {
			return err
		}
		for _, other := range asked[i+1:] {
			h.tellSecond(newItem(h, is, a.FlowLabel), is, other, "")
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
		if own || follows(item.Flow, a.Flow) && !work.HasLabel(is.Labels, item.Label) {
			return a, true
		}
	}
	return flowAsked{FlowLabel: config.FlowLabel{Name: item.Label, Flow: item.Flow}}, false
}

// swapped reports whether other labels replace the one that an open item goes by, and
// tells of those that do not count.
func (h *reading) swapped(ctx context.Context, item work.Item, is github.Issue, asked []flowAsked) (bool, error) {
	others := slices.DeleteFunc(slices.Clone(asked), func(a flowAsked) bool { return follows(item.Flow, a.Flow) })
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
func (h *reading) underWay(ctx context.Context, item work.Item) (what string, err error) {
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
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
func (h *reading) withdraw(item work.Item, timeline []github.TimelineEvent) {
	t, ok := lastEvent(timeline, "unlabeled", item.Label)
	if !ok { // GitHub deletes a label without a word on the timeline
		t = github.TimelineEvent{ID: 0, CreatedAt: h.env.Now()}
	}
	c := timelineEvent(item, work.EventClosed, item.Number, t, "unlabelled")
	c.former = true
	h.addToIssue(item.Number, c)
}

// tellSecond says on the issue that a label begins nothing, and how to switch: once
// for each time that one is set.
func (h *reading) tellSecond(item work.Item, is github.Issue, other flowAsked, underWay string) {
	token := work.NoticeToken(h.row.Key(), is.Number, "second label "+strconv.FormatInt(other.set.ID, 10))
	body := fmt.Sprintf("The label `%s` starts nothing: `%s` was set first and counts. To switch, remove `%s`.", other.Name, item.Label, item.Label)
	if underWay != "" {
		body = fmt.Sprintf("The label `%s` starts nothing: %s. To switch, comment `/mergexo cancel`, then `/mergexo %s`.", other.Name, underWay, command.Of(other.Flow))
	}
	h.declined = append(h.declined, work.Action{
		RepoID: h.row.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: is.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a second label, " + other.Name,
	})
}

// What begins work is that somebody set a label, not that it is there: an issue
// form puts it on for any stranger who opens an issue.

// declineLabel says that a label begins nothing: on GitHub once for each person
// in a repository, and in the log.
func (h *reading) declineLabel(item work.Item, is github.Issue, set github.TimelineEvent, label config.FlowLabel) {
	refused := timelineEvent(item, work.EventLabelled, is.Number, set, label.Name)
	refused.event.Outcome = work.OutcomeNoLabeller
	h.addToIssue(is.Number, refused)
	token := work.NoticeToken(h.row.Key(), 0, "may not label "+strconv.FormatInt(set.Actor.ID, 10))
	why := fmt.Sprintf("it was set in the name of %s, who has no triage permission on this repository, as an issue form does", set.Actor.Login)
	if set.Actor.Bot {
		why = fmt.Sprintf("the bot %s set it, and `allowed_users` in the config of gh mergexo does not name it", set.Actor.Login)
	}
	body := fmt.Sprintf("The label `%s` starts no work here: %s. To start, somebody with write permission comments `/mergexo %s`, "+
		"or somebody with triage permission removes the label and adds it again.", label.Name, why, command.Of(label.Flow))
	h.declined = append(h.declined, work.Action{
		RepoID: h.row.ID, ItemID: item.ID, Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned,
		Number: is.Number, Body: work.Mark(body, work.Marks{Token: token}), Why: "a label set by " + set.Actor.Login + ", who may not triage",
	})
}

// The labels that start and pause work are what a new user reaches for first, and
// GitHub's web interface offers only labels that the repository has. So each
// configured repository gets them, once: what people delete or change afterwards
// stays as they left it.

// storeRepoLabels plans that the repository has the labels that the config names.
// An idle pass finds the row as it wants it.
func (h *reading) storeRepoLabels(ctx context.Context, tx *store.Tx, now time.Time) error {
	wanted := work.Labelling{With: work.RepoLabels(h.repo.Settings.Labels)}
	if h.repo.Settings.Review.Enabled {
		wanted.With = append(wanted.With, work.ReviewLabels(h.repo.Settings.Labels)...)
	}
	if h.repo.Settings.Review.Merge.Auto {
		wanted.With = append(wanted.With, work.FreezeLabel(h.repo.Settings.Labels.Freeze))
	}
	// a repository that is made again under the name is another one.
	a := wanted.Action(h.row, 0, 0, "repository "+h.row.NodeID)
	a.Kind, a.PlannedAt, a.Why = work.ActionRepoLabels, now, "the labels that start and pause work"
	known, ok, err := tx.GetAction(ctx, a.Token)
	if err != nil || ok && known.Body == a.Body {
		return err
	}
	return tx.RenewAction(ctx, a)
}
