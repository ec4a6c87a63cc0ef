package tick

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// People take a work item over by the label agent:ignore on its issue or its
// pull request, or by a command, and give it back in the same way. Meanwhile
// nothing is begun for it, and what is said is skipped for good. The label on
// GitHub is enough to know, also of pauses that are over: timelines show them.

// storePauses begins and ends pauses by commands. They stand on the issue; an
// end is also one for a label that will be taken away.
func storePauses(ctx context.Context, tx *store.Tx, pauses []work.PauseChange) error {
	for _, p := range pauses {
		item, err := tx.GetItem(ctx, p.Item)
		if err != nil {
			return err
		}
		if !p.Began.IsZero() {
			if err := tx.BeginPause(ctx, work.Pause{RepoID: item.RepoID, Number: item.Number, Began: p.Began, By: p.By}); err != nil {
				return err
			}
		}
		if p.Ended.IsZero() {
			continue
		}
		numbers, err := standsOn(ctx, tx, item)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if err := tx.EndPauses(ctx, item.RepoID, n, store.PausesAll, p.Ended); err != nil {
				return err
			}
		}
	}
	return nil
}

// standsOn are the numbers on which an item can be paused: its issue's, and
// that of its newest pull request.
func standsOn(ctx context.Context, tx *store.Tx, item work.Item) ([]int, error) {
	numbers := []int{item.Number}
	pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
	if ok {
		numbers = append(numbers, pull.Number)
	}
	return numbers, err
}

// pauseOf is the oldest of the pauses of an item that last.
func pauseOf(ctx context.Context, tx *store.Tx, item work.Item) (work.Pause, bool, error) {
	numbers, err := standsOn(ctx, tx, item)
	if err != nil {
		return work.Pause{}, false, err
	}
	open, err := tx.ListOpenPauses(ctx, item.RepoID)
	at := slices.IndexFunc(open, func(p work.Pause) bool { return slices.Contains(numbers, p.Number) })
	if err != nil || at < 0 {
		return work.Pause{}, false, err
	}
	return open[at], true, nil
}

// fillPaused reads which items people have taken over. Each of them that is
// open has its line in the plan, whether anything waits or not.
func fillPaused(ctx context.Context, tx *store.Tx, v *plan.Snapshot) error {
	v.Paused = map[int64]work.Pause{}
	open, err := tx.ListOpenPauses(ctx, v.Repo.ID)
	if err != nil || len(open) == 0 {
		return err
	}
	items, err := tx.ListOpenItems(ctx, v.Repo.ID)
	if err != nil {
		return err
	}
	for _, i := range items {
		numbers, err := standsOn(ctx, tx, i)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(open, func(p work.Pause) bool { return slices.Contains(numbers, p.Number) })
		if at < 0 {
			continue
		}
		v.Paused[i.ID] = open[at]
	}
	return nil
}

// notTaken ends a turn before its first effect when people have taken its item
// over: it is superseded, and what it was about waits for them. In a pause of
// everything it waits as it is. After its first effect a turn is carried to its
// end.
func (p *Looks) notTaken(ctx context.Context, l *lease) error {
	if err := p.notHalted(ctx, l); err != nil {
		return err
	}
	var pause work.Pause
	var taken bool
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		pause, taken, err = pauseOf(ctx, tx, l.item)
		return err
	})
	if err != nil || !taken {
		return err
	}
	if begun, err := p.firstEffect(ctx, l); err != nil || begun {
		return err
	}
	return &work.SupersededError{Reason: work.PausedReason(pause)}
}

// lookTaken looks for the label on GitHub as it is now: ingest may have been
// long ago. The timeline says since when, and whose it is.
func (p *Looks) lookTaken(ctx context.Context, l *lease, number int, labels []string, updated time.Time) error {
	ignore := l.remote.Settings.Labels.Ignore
	if !work.HasLabel(labels, ignore) {
		return nil
	}
	timeline, err := l.remote.GitHub.TimelineOf(ctx, l.remote.repo.Current, number)
	if err != nil {
		return err
	}
	seen := takeoverOf(number, timeline, ignore, true, updated)
	err = p.Store.Update(ctx, func(tx *store.Tx) error { return seen.store(ctx, tx, l.turn.RepoID, number) })
	if err != nil {
		return fmt.Errorf("store the pauses: %w", err)
	}
	return p.notTaken(ctx, l)
}
