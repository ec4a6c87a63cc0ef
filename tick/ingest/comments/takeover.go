package comments

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// IssueTaken notes what an issue's timeline shows of pauses.
func (h *Comments) IssueTaken(is github.Issue, timeline []github.TimelineEvent) {
	ignore := h.R.Settings.Labels.Ignore
	h.Taken[is.Number] = env.TakeoverOf(is.Number, timeline, ignore, work.HasLabel(is.Labels, ignore), is.UpdatedAt)
}

// PullTaken notes what a pull request's timeline shows of pauses, when labels
// were set on it or taken away since it was last read. It gives that timeline; else none.
func (h *Comments) PullTaken(ctx context.Context, pull *work.PullRequest, d github.PullDetail) ([]github.TimelineEvent, error) {
	if d.LabelChanges == pull.LabelChanges {
		return nil, nil
	}
	timeline, err := h.Ahead().LabelsOf(ctx, pull.Number, d.Labels)
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
		pull.Fingerprint = "" // the timeline lags: it is read again
	}
	h.noteHold(pull.Number, timeline, d)
	ignore := h.R.Settings.Labels.Ignore
	h.Taken[pull.Number] = env.TakeoverOf(pull.Number, timeline, ignore, work.HasLabel(d.Labels, ignore), d.UpdatedAt)
	return timeline, nil
}

// noteHold notes who set the label that holds reviews, or took it away, last.
func (h *Comments) noteHold(number int, timeline []github.TimelineEvent, d github.PullDetail) {
	name := h.R.Settings.Labels.Hold
	for _, t := range slices.Backward(timeline) {
		if (t.Event == "labeled" || t.Event == "unlabeled") && strings.EqualFold(t.Label, name) {
			on := t.Event == "labeled"
			if on == work.HasLabel(d.Labels, name) { // else the timeline lags
				h.ReviewsOf(number).Hold = &batch.HoldLabel{On: on, By: t.Actor.Login, At: t.CreatedAt}
			}
			return
		}
	}
}

// StorePauses stores what the timelines show before anything that was said is
// judged by it.
func (h *Comments) StorePauses(ctx context.Context) error {
	some := func(t env.Takeover) bool { return len(t.Pauses) > 0 }
	var numbers []int
	for _, n := range batch.SortedKeys(h.Taken) {
		if some(h.Taken[n]) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	err := h.Update(ctx, func(ctx context.Context, tx *store.Tx) error {
		for _, n := range numbers {
			if err := h.Taken[n].Store(ctx, tx, h.Repo.ID, n); err != nil {
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

// paused says whether something was said, or happened, while people had taken
// the item over: it is skipped then, whenever it appears.
func (h *Comments) paused(ctx context.Context, c batch.Inbound) (string, error) {
	e := c.Event
	if !e.Kind.Said() && e.Kind != work.EventCheck && e.Kind != work.EventConflict {
		return "", nil // what became of it is honoured
	}
	pauses, err := h.pausesFor(ctx, c)
	if err != nil || len(pauses) == 0 {
		return "", err
	}
	if e.Kind == work.EventConflict { // nobody knows since when
		return h.pausedNow(e, pauses), nil
	}
	at, err := h.saidAt(ctx, c, pauses)
	if err != nil {
		return "", err
	}
	covers := func(p work.Pause) bool { return p.Covers(at) }
	if !slices.ContainsFunc(pauses, covers) {
		return "", nil
	}
	if h.lasts(pauses, covers) && at.Equal(e.CreatedAt) {
		h.Owed = true
		return "", nil
	}
	return work.OutcomePaused, nil
}

// pausedNow is the outcome of a conflict: it counts unless a pause lasts that began before
// it was seen.
func (h *Comments) pausedNow(e work.Event, pauses []work.Pause) string {
	lasts := func(p work.Pause) bool { return p.Open() && (e.SeenAt.IsZero() || !e.SeenAt.Before(p.Began)) }
	switch {
	case !slices.ContainsFunc(pauses, lasts):
		return ""
	case h.Partial:
		h.Owed = true
		return ""
	}
	return work.OutcomePaused
}

// lasts reports whether something is covered by pauses alone of which it is not known yet
// whether they last: a comment that resumes the work may still be read.
func (h *Comments) lasts(pauses []work.Pause, covers func(work.Pause) bool) bool {
	over := func(p work.Pause) bool { return !p.Open() && covers(p) }
	return h.Partial && !slices.ContainsFunc(pauses, over)
}

// JudgePaused judges what was taken in during a pause before it was known whether that
// lasts: what came before the comment that ended it, and all of it where there is none, is
// skipped. While that waits nothing is begun for it, since its item is paused.
func (h *Comments) JudgePaused(ctx context.Context) error {
	if h.Partial || h.Known.Cuts[batch.WalkPauses] == "" {
		return nil
	}
	var pending []work.Event
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		pending, err = tx.ListPendingEvents(ctx, h.Repo.ID)
		return err
	})
	if err != nil {
		return err
	}
	h.Walked(batch.WalkPauses, nil, map[string]string{batch.WalkPauses: ""})
	for _, e := range pending {
		if e.TurnID != 0 || e.Kind == work.EventCommand {
			continue
		}
		why, err := h.paused(ctx, batch.Inbound{Event: e})
		if err != nil {
			return err
		}
		if why != "" {
			h.Paused = append(h.Paused, e.ID)
		}
	}
	return nil
}

// StorePaused stores what JudgePaused found, or that it is owed.
func (h *Comments) StorePaused(ctx context.Context, tx *store.Tx, now time.Time) error {
	if h.Owed {
		h.Walked(batch.WalkPauses, nil, map[string]string{batch.WalkPauses: "owed"})
	}
	if len(h.Paused) == 0 {
		return nil
	}
	return tx.FinishEvents(ctx, h.Paused, work.OutcomePaused, now)
}

// saidAt is when a comment got its words. A reaction moves its stamp as an edit
// does: where that makes a difference, GitHub is asked.
func (h *Comments) saidAt(ctx context.Context, c batch.Inbound, pauses []work.Pause) (time.Time, error) {
	at, stamp := c.Event.CreatedAt, c.Event.UpdatedAt
	if s := h.Submitted[c.Review]; s.After(at) {
		at = s // it was a draft before
	}
	meets := func(p work.Pause) bool { return p.Meets(at, stamp) }
	if !c.Event.Kind.Said() || !stamp.After(at) || c.Node == "" || !slices.ContainsFunc(pauses, meets) {
		return at, nil
	}
	text, ok, err := h.R.GitHub.Text(ctx, c.Node)
	if err == nil && ok && text.EditedAt.After(at) {
		at = text.EditedAt
	}
	return at, err
}

// pausesFor are the pauses of the item that something belongs to.
func (h *Comments) pausesFor(ctx context.Context, c batch.Inbound) ([]work.Pause, error) {
	numbers, err := h.partners(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []work.Pause
	for _, n := range numbers {
		known, asked := h.Pauses[n]
		if !asked {
			err := h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
				known, err = tx.ListPauses(ctx, h.Repo.ID, n)
				return err
			})
			if err != nil {
				return nil, err
			}
			h.Pauses[n] = known
		}
		all = append(all, known...)
	}
	all = append(all, h.pausesByCommand(numbers, all)...)
	return all, h.resumed(ctx, numbers, all)
}

// partners are the numbers of the issue and of the pull request that something
// belongs to, as far as there are both.
func (h *Comments) partners(ctx context.Context, c batch.Inbound) ([]int, error) {
	return h.known.partners(c, func() ([]int, error) { return h.findPartners(ctx, c) })
}

func (h *Comments) findPartners(ctx context.Context, c batch.Inbound) (numbers []int, err error) {
	n := c.Event.Number
	numbers = []int{n}
	if issue, ok := h.Adopted[n]; ok && c.Pull {
		return append(numbers, issue), nil
	}
	for pull, issue := range h.Adopted {
		if issue == n && !c.Pull {
			numbers = append(numbers, pull)
		}
	}
	if c.Event.ItemID == 0 {
		return numbers, nil
	}
	return numbers, h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		item, err := tx.GetItem(ctx, c.Event.ItemID)
		if err != nil {
			return err
		}
		both, err := env.StandsOn(ctx, tx, item)
		numbers = append(numbers, both...)
		return err
	})
}
