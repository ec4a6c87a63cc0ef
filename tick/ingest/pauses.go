package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// noteIssuePauses records the pauses that an issue's timeline shows. On the issue of a roadmap, the
// label of a hold pauses, too. flow is that of the work on the issue; empty: none is known.
func (h *reading) noteIssuePauses(r issueRead, flow work.Flow) {
	labels := h.repo.Settings.Labels
	of := func(label string) env.Takeover {
		return env.TakeoverOf(r.Number, r.timeline, label, work.HasLabel(r.Labels, label), r.UpdatedAt)
	}
	shown := of(labels.Ignore)
	if flow == work.FlowRoadmap || work.HasLabel(r.Labels, labels.Roadmap) {
		shown = shown.And(of(labels.Hold))
	}
	h.takeovers[r.Number] = shown
}

// notePullPauses records the pauses that a pull request's timeline shows, if labels changed since it was last read.
func (h *reading) notePullPauses(r pullRead, pull *work.PullRequest) {
	if !r.relabelled() {
		return
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
	ignore := h.repo.Settings.Labels.Ignore
	h.takeovers[pull.Number] = env.TakeoverOf(pull.Number, r.timeline, ignore, work.HasLabel(r.Labels, ignore), r.UpdatedAt)
}

// storePauses stores the pauses of timelines before comments are judged by them.
func (h *reading) storePauses(ctx context.Context) error {
	maps.DeleteFunc(h.takeovers, func(_ int, t env.Takeover) bool { return len(t.Pauses) == 0 })
	if len(h.takeovers) == 0 {
		return nil
	}
	err := h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, n := range slices.Sorted(maps.Keys(h.takeovers)) {
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
