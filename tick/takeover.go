package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// takeover is what the timeline of an issue or a pull request shows of pauses.
type takeover struct {
	pauses []work.Pause
	freed  time.Time // when the label was last taken away; zero while it stands
}

// takeoverOf reads the pauses off a timeline. A list and a timeline are read
// one after the other, and either may lag: on says whether the list shows the
// label, and at what stamp.
func takeoverOf(number int, timeline []github.TimelineEvent, label string, on bool, at time.Time) takeover {
	var t takeover
	lasts := func() bool { return len(t.pauses) > 0 && t.pauses[len(t.pauses)-1].Open() }
	for _, e := range timeline {
		if !strings.EqualFold(e.Label, label) {
			continue
		}
		switch {
		case e.Event == "labeled" && !lasts():
			t.pauses = append(t.pauses, work.Pause{Number: number, LabelID: e.ID, Began: e.CreatedAt, By: e.Actor.Login})
		case e.Event == "unlabeled" && lasts():
			t.pauses[len(t.pauses)-1].Ended, t.freed = e.CreatedAt, e.CreatedAt
		}
	}
	switch {
	case on && !lasts(): // the timeline lags
		t.pauses = append(t.pauses, work.Pause{Number: number, Began: at, By: "somebody"})
	case !on && lasts() && at.After(t.pauses[len(t.pauses)-1].Began): // it lags, too; or the label was deleted
		t.pauses[len(t.pauses)-1].Ended, t.freed = at, at
	}
	if lasts() {
		t.freed = time.Time{}
	}
	return t
}

// store stores what a timeline shows. The label that is taken away ends what a
// command began, too: GitHub has the last word.
func (t takeover) store(ctx context.Context, tx *store.Tx, repoID int64, number int) error {
	for _, p := range t.pauses {
		p.RepoID = repoID
		put := tx.PutPause
		if p.LabelID == 0 {
			put = tx.BeginPause
		}
		if err := put(ctx, p); err != nil {
			return err
		}
	}
	if t.freed.IsZero() {
		return nil
	}
	return tx.EndPauses(ctx, repoID, number, store.PausesByCommand, t.freed)
}

// issueTaken notes what an issue's timeline shows of pauses.
func (h *Comments) issueTaken(is github.Issue, timeline []github.TimelineEvent) {
	ignore := h.r.Settings.Labels.Ignore
	h.taken[is.Number] = takeoverOf(is.Number, timeline, ignore, work.HasLabel(is.Labels, ignore), is.UpdatedAt)
}

// pullTaken notes what a pull request's timeline shows of pauses, when labels
// were set on it or taken away since it was last read.
func (h *Comments) pullTaken(ctx context.Context, pull *work.PullRequest, d github.PullDetail) error {
	if d.LabelChanges == pull.LabelChanges {
		return nil
	}
	timeline, err := h.r.GitHub.TimelineOf(ctx, h.repo.Current, pull.Number)
	if err != nil {
		return err
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
	ignore := h.r.Settings.Labels.Ignore
	h.taken[pull.Number] = takeoverOf(pull.Number, timeline, ignore, work.HasLabel(d.Labels, ignore), d.UpdatedAt)
	return nil
}

// storePauses stores what the timelines show before anything that was said is
// judged by it.
func (h *Comments) storePauses(ctx context.Context) error {
	some := func(t takeover) bool { return len(t.pauses) > 0 }
	var numbers []int
	for _, n := range sortedKeys(h.taken) {
		if some(h.taken[n]) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	err := h.update(ctx, func(tx *store.Tx) error {
		for _, n := range numbers {
			if err := h.taken[n].store(ctx, tx, h.repo.ID, n); err != nil {
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
// the item over: it is skipped then, whenever it comes to light.
func (h *Comments) paused(ctx context.Context, c candidate) (string, error) {
	e := c.event
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
func (h *Comments) saidAt(ctx context.Context, c candidate, pauses []work.Pause) (time.Time, error) {
	at, stamp := c.event.CreatedAt, c.event.UpdatedAt
	if s := h.submitted[c.review]; s.After(at) {
		at = s // it was a draft before
	}
	meets := func(p work.Pause) bool { return p.Meets(at, stamp) }
	if !c.event.Kind.Said() || !stamp.After(at) || c.node == "" || !slices.ContainsFunc(pauses, meets) {
		return at, nil
	}
	text, ok, err := h.r.GitHub.Text(ctx, c.node)
	if err == nil && ok && text.EditedAt.After(at) {
		at = text.EditedAt
	}
	return at, err
}

// pausesFor are the pauses of the item that something belongs to.
func (h *Comments) pausesFor(ctx context.Context, c candidate) ([]work.Pause, error) {
	numbers, err := h.partners(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []work.Pause
	for _, n := range numbers {
		known, asked := h.pauses[n]
		if !asked {
			err := h.view(ctx, func(tx *store.Tx) (err error) {
				known, err = tx.ListPauses(ctx, h.repo.ID, n)
				return err
			})
			if err != nil {
				return nil, err
			}
			h.pauses[n] = known
		}
		all = append(all, known...)
	}
	all = append(all, h.pausesByCommand(numbers, all)...)
	return all, h.resumed(ctx, numbers, all)
}

// partners are the numbers of the issue and of the pull request that something
// belongs to, as far as there are both.
func (h *Comments) partners(ctx context.Context, c candidate) (numbers []int, err error) {
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
	return numbers, h.view(ctx, func(tx *store.Tx) error {
		item, err := tx.GetItem(ctx, c.event.ItemID)
		if err != nil {
			return err
		}
		both, err := standsOn(ctx, tx, item)
		numbers = append(numbers, both...)
		return err
	})
}
