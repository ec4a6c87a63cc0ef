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
	timeline, err := h.R.GitHub.TimelineOf(ctx, h.Repo.Current, pull.Number)
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
	err := h.Update(ctx, func(tx *store.Tx) error {
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
		if slices.ContainsFunc(pauses, work.Pause.Open) {
			return work.OutcomePaused, nil
		}
		return "", nil
	}
	at, err := h.saidAt(ctx, c, pauses)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(pauses, func(p work.Pause) bool { return p.Covers(at) }) {
		return work.OutcomePaused, nil
	}
	return "", nil
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
			err := h.View(ctx, func(tx *store.Tx) (err error) {
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
func (h *Comments) partners(ctx context.Context, c batch.Inbound) (numbers []int, err error) {
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
	return numbers, h.View(ctx, func(tx *store.Tx) error {
		item, err := tx.GetItem(ctx, c.Event.ItemID)
		if err != nil {
			return err
		}
		both, err := env.StandsOn(ctx, tx, item)
		numbers = append(numbers, both...)
		return err
	})
}
