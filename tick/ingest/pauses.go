package ingest

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	timeline, err := h.labelsOf(ctx, pull.Number, d.Labels)
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

// paused returns the outcome of an event that came while people had the item paused: it is skipped,
// even if it appears later.
func (h *reading) paused(ctx context.Context, c candidate) (string, error) {
	e := c.event
	if !e.Kind.IsComment() && e.Kind != work.EventCheck && e.Kind != work.EventConflict {
		return "", nil // state changes of issues and pull requests always count
	}
	pauses, err := h.pausesFor(ctx, c)
	if err != nil || len(pauses) == 0 {
		return "", err
	}
	if e.Kind == work.EventConflict { // nobody knows since when it exists
		return pausedNow(e, pauses), nil
	}
	at, err := h.textSince(ctx, c, pauses)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(pauses, func(p work.Pause) bool { return p.Covers(at) }) {
		return "", nil
	}
	return work.OutcomePaused, nil
}

// pausedNow is the outcome of a conflict: it counts unless a pause lasts that began before the
// conflict was seen.
func pausedNow(e work.Event, pauses []work.Pause) string {
	lasts := func(p work.Pause) bool { return p.Open() && (e.SeenAt.IsZero() || !e.SeenAt.Before(p.Began)) }
	if !slices.ContainsFunc(pauses, lasts) {
		return ""
	}
	return work.OutcomePaused
}

// textSince returns when a comment got its current text. Reactions move the stamp as edits do, so
// GitHub is asked where the difference matters.
func (h *reading) textSince(ctx context.Context, c candidate, pauses []work.Pause) (time.Time, error) {
	at, stamp := c.event.CreatedAt, c.event.UpdatedAt
	if s := h.submitted[c.review]; s.After(at) {
		at = s // it was a draft until then
	}
	meets := func(p work.Pause) bool { return p.Meets(at, stamp) }
	if !c.event.Kind.IsComment() || !stamp.After(at) || c.event.Node == "" || !slices.ContainsFunc(pauses, meets) {
		return at, nil
	}
	text, ok, err := h.repo.GitHub.Text(ctx, c.event.Node)
	if err == nil && ok && text.EditedAt.After(at) {
		at = text.EditedAt
	}
	return at, err
}

// pausesFor returns the pauses of the item that an event belongs to.
func (h *reading) pausesFor(ctx context.Context, c candidate) ([]work.Pause, error) {
	numbers, err := h.partners(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []work.Pause
	for _, n := range numbers {
		known, asked := h.lookups.pauses[n]
		if !asked {
			err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				known, err = tx.ListPauses(ctx, h.row.ID, n)
				return err
			})
			if known, err = remember(&h.lookups.pauses, n, known, err); err != nil {
				return nil, err
			}
		}
		all = append(all, known...)
	}
	all = append(all, h.pausesByCommand(numbers, all)...)
	return all, h.resumed(ctx, numbers, all)
}

// partners returns the numbers of the issue and the pull request that an event belongs to, as far
// as both exist.
func (h *reading) partners(ctx context.Context, c candidate) ([]int, error) {
	return h.lookups.partners(c, func() ([]int, error) { return h.findPartners(ctx, c) })
}

func (h *reading) findPartners(ctx context.Context, c candidate) (numbers []int, err error) {
	n := c.event.Number
	numbers = []int{n}
	if issue, ok := h.adopted[n]; ok && c.pull {
		return append(numbers, issue), nil
	}
	for pull, issue := range h.adopted {
		if issue == n && !c.pull {
			numbers = append(numbers, pull)
		}
	}
	if c.event.ItemID == 0 {
		return numbers, nil
	}
	return numbers, h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		item, err := tx.GetItem(ctx, c.event.ItemID)
		if err != nil {
			return err
		}
		both, err := env.PauseNumbers(ctx, tx, item)
		numbers = append(numbers, both...)
		return err
	})
}
