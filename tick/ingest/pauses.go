package ingest

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// noteIssuePauses records the pauses that an issue's timeline shows. On the issue of a roadmap, the
// label of a hold pauses, too. flow is that of the work on the issue; empty: none is known.
func (h *reading) noteIssuePauses(is github.Issue, flow work.Flow, timeline []github.TimelineEvent) {
	labels := h.repo.Settings.Labels
	of := func(label string) env.Takeover {
		return env.TakeoverOf(is.Number, timeline, label, work.HasLabel(is.Labels, label), is.UpdatedAt)
	}
	h.takeovers[is.Number] = of(labels.Ignore)
	if flow == work.FlowRoadmap || work.HasLabel(is.Labels, labels.Roadmap) {
		h.takeovers[is.Number] = h.takeovers[is.Number].And(of(labels.Hold))
	}
}

// notePullPauses records the pauses that a pull request's timeline shows, if labels changed since
// it was last read. It returns that timeline, otherwise nil.
func (h *reading) notePullPauses(ctx context.Context, pull *work.PullRequest, d github.PullDetail) ([]github.TimelineEvent, error) {
	h.noteHold(pull.Number, nil, d)
	if d.LabelChanges == pull.LabelChanges {
		return nil, nil
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, pull.Number)
	if err != nil {
		return nil, err
	}
	pull.LabelChanges = 0
	for _, e := range timeline {
		if e.Event == "labeled" || e.Event == "unlabeled" {
			pull.LabelChanges++
		}
	}
	if pull.LabelChanges != d.LabelChanges {
		pull.Fingerprint = "" // the timeline lags: read it again
	}
	h.noteHold(pull.Number, timeline, d)
	ignore := h.repo.Settings.Labels.Ignore
	h.takeovers[pull.Number] = env.TakeoverOf(pull.Number, timeline, ignore, work.HasLabel(d.Labels, ignore), d.UpdatedAt)
	return timeline, nil
}

// noteHold records whether the label that holds reviews is set. The labels say so; the timeline
// says only who set it.
func (h *reading) noteHold(number int, timeline []github.TimelineEvent, d github.PullDetail) {
	name := h.repo.Settings.Labels.Hold
	hold := &holdLabel{on: work.HasLabel(d.Labels, name), by: "somebody", at: d.UpdatedAt}
	if set, ok := lastEvent(timeline, "labeled", name); ok {
		hold.by, hold.at = set.Actor.Login, set.CreatedAt
	}
	h.newsOf(number).reviews.hold = hold
}

// storePauses stores the pauses of timelines before comments are judged by them.
func (h *reading) storePauses(ctx context.Context) error {
	some := func(t env.Takeover) bool { return len(t.Pauses) > 0 }
	var numbers []int
	for _, n := range sortedKeys(h.takeovers) {
		if some(h.takeovers[n]) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	err := h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, n := range numbers {
			if err := h.takeovers[n].Store(ctx, tx, h.row.ID, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store the pauses: %w", err)
	}
	return nil
}
