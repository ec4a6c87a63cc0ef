package ingest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A label that was acted on before the database was lost names work that may have
// ended since: its pull request is not among the open ones.

// adoptEnded finds out whether an issue's label was acted on already, and the
// pull request merged or closed since. A label that was set after that starts
// over.
func (h *reading) adoptEnded(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent) (bool, error) {
	for _, t := range slices.Backward(timeline) {
		if t.FromPull == 0 || !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), t.Actor.ID) {
			continue
		}
		if tracked, err := h.tracked(ctx, t.FromPull); err != nil || tracked {
			return false, err
		}
		p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, t.FromPull)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if made, ended, err := h.adoptMade(ctx, is, label, labelled, timeline, p); made || err != nil {
			return ended, err
		}
	}
	return h.adoptByBranch(ctx, is, label, labelled, timeline)
}

// adoptMade finds out whether a pull request was made for an issue's label. If so,
// ended says whether the label was acted on with it.
func (h *reading) adoptMade(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, p github.Pull) (made, ended bool, err error) {
	mark, ours, err := h.ownPull(ctx, p)
	switch {
	case err != nil, !ours, mark.Issue != is.Number, !follows(mark.Flow, label.Flow):
		return false, false, err
	case p.State == work.PullOpen:
		return true, true, h.adoptPull(ctx, p, mark) // the list of open ones lagged
	case labelled.CreatedAt.After(p.ClosedAt):
		return true, false, nil
	}
	return true, true, h.adoptClosed(ctx, is, config.FlowLabel{Name: label.Name, Flow: mark.Flow}, labelled, timeline, p)
}

// adoptByBranch looks for a pull request that no timeline names, by the branches that
// the issue's titles lead to. A label that was set under this database's eyes has
// none that it does not know.
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
	for _, flow := range searched(label.Flow) {
		for _, title := range titles {
			pulls, err := h.repo.GitHub.PullsByHead(ctx, h.row.Current, work.BranchName(flow, is.Number, title, 0))
			if err != nil {
				return false, err
			}
			slices.SortFunc(pulls, func(a, b github.Pull) int { return b.Number - a.Number })
			for _, p := range pulls {
				if made, ended, err := h.adoptMade(ctx, is, label, labelled, timeline, p); made || err != nil {
					return ended, err
				}
			}
		}
	}
	return false, nil
}

// unwatched reports whether a label that was set then may have been acted on by a database
// that is gone.
func (h *reading) unwatched(labelled time.Time) bool {
	return !labelled.After(h.row.IssuesSince.Add(2 * overlap))
}

// searched are the flows for whose branches is looked: what follows a design comes first,
// since it says how far the work came.
func searched(label work.Flow) []work.Flow {
	if label == work.FlowDesign {
		return []work.Flow{work.FlowImplementation, work.FlowDesign}
	}
	return []work.Flow{label}
}

// prefetchBranch asks in advance whether an issue that is labelled had a pull request that nobody
// knows.
func (h *reading) prefetchBranch(ctx context.Context, is github.Issue) {
	if !h.unwatched(is.UpdatedAt) { // no label was set after that
		return
	}
	label, _ := h.repo.Settings.FlowOf(is.Labels)
	repo, name := h.row.Current, work.BranchName(searched(label.Flow)[0], is.Number, is.Title, 0)
	ahead.Begin(ctx, func(ctx context.Context) { _, _ = h.repo.GitHub.PullsByHead(ctx, repo, name) })
}

// pastPull finds the newest pull request that we opened for an issue's label and that
// this database does not know; one without a state is none.
func (h *reading) pastPull(ctx context.Context, is github.Issue, label config.FlowLabel, timeline []github.TimelineEvent) (github.Pull, error) {
	for _, t := range slices.Backward(timeline) {
		if t.FromPull == 0 || !slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), t.Actor.ID) {
			continue
		}
		if tracked, err := h.tracked(ctx, t.FromPull); err != nil || tracked {
			return github.Pull{}, err
		}
		p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, t.FromPull)
		if err != nil {
			return github.Pull{}, err
		}
		if !ok {
			continue
		}
		if mark, ours, err := h.ownPull(ctx, p); err != nil || ours && mark.Issue == is.Number && follows(mark.Flow, label.Flow) {
			return p, err
		}
	}
	return github.Pull{}, nil
}

// follows reports whether a pull request's flow comes of a label's: a design
// is followed by its implementation.
func follows(flow, label work.Flow) bool {
	return flow == label || flow == work.FlowImplementation && label == work.FlowDesign
}

func (h *reading) adoptClosed(ctx context.Context, is github.Issue, label config.FlowLabel, labelled github.TimelineEvent, timeline []github.TimelineEvent, p github.Pull) error {
	item := newItem(h, is, label)
	item.LabelEvent, item.Branch = strconv.FormatInt(labelled.ID, 10), p.Head
	switch {
	case p.State == work.PullClosed:
		item.State = work.StateClosed
	case label.Flow == work.FlowDesign:
		item.State = work.StateMerged
	default:
		item.State = work.StateCompleted
	}
	item, err := h.retell(ctx, item, is, timeline, label.Name)
	if err != nil {
		return err
	}
	pull := trackedPull(h.row, item, p)
	pull.DetailsAt = h.now()
	if err := h.readCommitsAtEnd(ctx, pull, p.ClosedAt); err != nil {
		return err
	}
	if item.State == work.StateMerged {
		if err := h.promote(ctx, item, pull); err != nil {
			return err
		}
	}
	news := h.newsOf(p.Number)
	news.row, news.read = pull, true
	h.adopted[p.Number] = is.Number
	return nil
}
