package ingest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// After the database was lost, a label may name work that has ended: its pull request is not among
// the open ones.

// keptFor is how long after its merge a pull request is looked for by the head that the mirror keeps:
// what landed is compared within that time.
const keptFor = 7 * 24 * time.Hour

// keptMerges returns the pull requests that a lost database may have merged. No list shows them: the
// merge closed them and their issues. The mirror keeps the head of each since before its request.
func (h *reading) keptMerges(ctx context.Context) (kept []int, err error) {
	if err := h.env.Preflight(ctx); err != nil {
		return nil, nil //nolint:nilerr // without git this pass claims no turn either, and reports why
	}
	numbers, err := h.repo.Git().Merged(ctx, h.now().Add(-keptFor))
	if err != nil {
		return nil, h.deferOne(err, "read which heads were merged")
	}
	for _, n := range numbers {
		if _, tracked, err := h.pull(ctx, n); err != nil {
			return nil, err
		} else if c, some := h.numbers[n]; !tracked && (!some || !c.waited) {
			kept = append(kept, n)
		}
	}
	return kept, nil
}

// adoptKept tracks an ended pull request of ours from the backlog by way of its issue, as the
// issue's label would if the issue were open.
func (h *reading) adoptKept(ctx context.Context, p github.Pull, mark work.PullMark) error {
	is, ok, err := h.issueOf(ctx, mark.Issue)
	if err != nil || !ok {
		return err
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, mark.Issue)
	if err != nil {
		return err
	}
	label := config.FlowLabel{Name: h.repo.Settings.Labels.Of(mark.Flow), Flow: mark.Flow}
	before := slices.DeleteFunc(slices.Clone(timeline), func(t github.TimelineEvent) bool { return setAfter(t, p) })
	labelled, _ := lastEvent(before, "labeled", label.Name)
	_, err = h.adoptEnded(ctx, is, label, labelled, timeline)
	return err
}

// setAfter reports whether a label was set after a pull request closed. In the second of its end it
// was: a label that led to the pull request is older than the work on it.
func setAfter(labelled github.TimelineEvent, p github.Pull) bool {
	return !labelled.CreatedAt.Before(p.ClosedAt)
}

// adoptEnded reports whether an issue's label already led to a pull request, and tracks it, also if
// it is merged or closed. A label set after the pull request closed starts over.
func (h *reading) adoptEnded(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent) (bool, error) {
	past, known, err := h.pastPull(ctx, is, label, timeline)
	switch {
	case err != nil || known:
		return false, err
	case past.Number != 0:
		return h.adoptPast(ctx, is, label, labelled, timeline, past)
	}
	return h.adoptByBranch(ctx, is, label, labelled, timeline)
}

// pastPull finds the newest pull request that we opened for an issue's label; its number is 0 if
// there is none. known means that the database already has one.
func (h *reading) pastPull(ctx context.Context, is github.Issue, label config.FlowLabel, timeline []github.TimelineEvent) (past markedPull, known bool, err error) {
	for _, t := range slices.Backward(timeline) {
		if t.FromPull == 0 || !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), t.Actor.ID) {
			continue
		}
		if _, tracked, err := h.pull(ctx, t.FromPull); err != nil || tracked {
			return markedPull{}, tracked, err
		}
		p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, t.FromPull)
		if err != nil {
			return markedPull{}, false, err
		}
		if !ok {
			continue
		}
		if past, made, err := h.madeFor(ctx, is, label, p); made || err != nil {
			return past, false, err
		}
	}
	return markedPull{}, false, nil
}

// markedPull is a pull request of ours with its mark.
type markedPull struct {
	github.Pull
	mark work.PullMark
}

// madeFor reports whether we opened the pull request for the issue's label. A change of a roadmap that was
// not merged says nothing about it.
func (h *reading) madeFor(ctx context.Context, is github.Issue, label config.FlowLabel, p github.Pull) (past markedPull, made bool, err error) {
	mark, ours, err := h.ownPull(ctx, p)
	dropped := mark.Run != 0 && p.State == work.PullClosed
	return markedPull{p, mark}, ours && !dropped && mark.Issue == is.Number && follows(mark.Flow, label.Flow), err
}

// adoptPast reports whether the pull request answers the label, and tracks it if so.
func (h *reading) adoptPast(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, past markedPull) (bool, error) {
	switch {
	case past.State == work.PullOpen:
		return true, h.adoptPull(ctx, past.Pull, past.mark) // the list of open pull requests lagged
	case setAfter(labelled, past.Pull):
		return false, nil
	}
	return true, h.adoptClosed(ctx, is, config.FlowLabel{Name: label.Name, Flow: past.mark.Flow}, labelled, timeline, past.Pull)
}

// adoptByBranch looks for a pull request that no timeline names, by the branch names that the
// issue's current and former titles give. A label set since this database began has none that the
// database lacks.
func (h *reading) adoptByBranch(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent) (bool, error) {
	if !h.unwatched(labelled.CreatedAt) {
		return false, nil
	}
	titles := []string{is.Title}
	for _, t := range timeline {
		if t.RenamedFrom != "" && !slices.Contains(titles, t.RenamedFrom) {
			titles = append(titles, t.RenamedFrom)
		}
	}
	for _, flow := range branchFlows(label.Flow) {
		for _, title := range titles {
			head := work.BranchName(flow, is.Number, title, 0)
			pulls, err := h.byHead.take(ctx, head, func(ctx context.Context) ([]github.Pull, error) {
				return h.repo.GitHub.PullsByHead(ctx, h.row.Current, head)
			})
			if err != nil {
				return false, err
			}
			slices.SortFunc(pulls, func(a, b github.Pull) int { return b.Number - a.Number })
			for _, p := range pulls {
				past, made, err := h.madeFor(ctx, is, label, p)
				if err != nil {
					return false, err
				}
				if made {
					return h.adoptPast(ctx, is, label, labelled, timeline, past)
				}
			}
		}
	}
	return false, nil
}

// unwatched reports whether a pass with a database that is lost may have acted on a label set at
// that time.
func (h *reading) unwatched(labelled time.Time) bool {
	return !labelled.After(h.row.IssuesSince.Add(2 * overlap))
}

// branchFlows returns the flows whose branches to look for. The implementation comes before its
// design, because it shows how far the work got.
func branchFlows(label work.Flow) []work.Flow {
	if label == work.FlowDesign {
		return []work.Flow{work.FlowImplementation, work.FlowDesign}
	}
	return []work.Flow{label}
}

// follows reports whether a label leads to a pull request of the flow. A design leads to its
// implementation.
func follows(flow, label work.Flow) bool {
	return flow == label || flow == work.FlowImplementation && label == work.FlowDesign
}

func (h *reading) adoptClosed(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, p github.Pull) error {
	h.labels[is.Number] = is.Labels
	item := newItem(h, is, label)
	item.LabelEvent, item.Branch = strconv.FormatInt(labelled.ID, 10), p.Head
	switch {
	case p.State == work.PullClosed:
		item.State = work.StateClosed
	case label.Flow.Document():
		item.State = work.StateMerged
	default:
		item.State = work.StateCompleted
	}
	item, err := h.updateText(ctx, item, is, timeline, label.Name)
	if err != nil {
		return err
	}
	pull := trackedPull(h.row, item, p)
	pull.DetailsAt = h.now()
	if err := h.readCommitsAtEnd(ctx, pull, p.ClosedAt); err != nil {
		return err
	}
	switch {
	case item.State != work.StateMerged:
	case item.Flow == work.FlowRoadmap:
		err = h.findRoadmapAgain(ctx, item, pull, p, labelled.CreatedAt)
	default:
		err = h.promote(ctx, item, pull)
	}
	if err != nil {
		return err
	}
	news := h.newsOf(p.Number)
	news.row, news.read = pull, true
	h.adopted[p.Number] = is.Number
	return nil
}
