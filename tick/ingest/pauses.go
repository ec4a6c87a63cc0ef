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

// notePullPauses records the pauses that a pull request's timeline shows, if labels changed since it was last read, and
// whether the label that holds reviews is set. The labels say so; the timeline says only who set it.
func (h *reading) notePullPauses(r pullRead, pull *work.PullRequest) {
	labels := h.repo.Settings.Labels
	hold := &holdLabel{on: work.HasLabel(r.Labels, labels.Hold), by: "somebody", at: r.UpdatedAt}
	h.newsOf(pull.Number).reviews.hold = hold
	if !r.relabelled() {
		return
	}
	if set, ok := lastEvent(r.timeline, "labeled", labels.Hold); ok {
		hold.by, hold.at = set.Actor.Login, set.CreatedAt
	}
	pull.LabelChanges = 0
	for _, e := range r.timeline {
		if e.Event == "labeled" || e.Event == "unlabeled" {
			pull.LabelChanges++
		}
	}
	if pull.LabelChanges != r.LabelChanges {
		pull.Fingerprint = "" // the timeline lags: read it again
	}
	h.takeovers[pull.Number] = env.TakeoverOf(pull.Number, r.timeline, labels.Ignore, work.HasLabel(r.Labels, labels.Ignore), r.UpdatedAt)
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
