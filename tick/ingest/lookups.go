package ingest

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// lookups are what was asked of the database about issues and pull requests while one
// list of comments is gone through: of a thousand comments on one of them it is asked
// once.
type lookups struct {
	places   map[int]place
	theirs   map[int]bool
	numbers  map[whose][]int
	commands []work.Event // that wait
	asked    bool         // for those
}

// place is what a comment on an issue or a pull request is to us.
type place struct {
	kind work.EventKind // empty: nothing is worked on there
	item int64
}

// whose is all that the partners of a comment depend on.
type whose struct {
	number int
	pull   bool
	item   int64
}

func (l *lookups) place(ctx context.Context, h *reading, number int) (place, error) {
	if at, known := l.places[number]; known {
		return at, nil
	}
	at := place{}
	pull, tracked, err := h.pull(ctx, number)
	if tracked {
		at = place{work.EventIssue, pull.ItemID}
	} else if err == nil {
		var item work.Item
		if item, tracked, err = h.item(ctx, number); tracked {
			at = place{work.EventSource, item.ID}
		}
	}
	return remember(&l.places, number, at, err)
}

// onTheirs reports whether a number is somebody else's pull request.
func (l *lookups) onTheirs(ctx context.Context, h *reading, number int) (bool, error) {
	if theirs, known := l.theirs[number]; known {
		return theirs, nil
	}
	theirs := false
	pull, tracked, err := h.pull(ctx, number)
	if tracked {
		var item work.Item
		item, err = h.itemOfPull(ctx, pull)
		theirs = item.Flow == work.FlowReview
	}
	return remember(&l.theirs, number, theirs, err)
}

func (l *lookups) partners(c candidate, find func() ([]int, error)) ([]int, error) {
	of := whose{c.event.Number, c.pull, c.event.ItemID}
	if numbers, known := l.numbers[of]; known {
		return slices.Clone(numbers), nil
	}
	numbers, err := find()
	numbers, err = remember(&l.numbers, of, numbers, err)
	return slices.Clone(numbers), err
}

// pendingCommands are those of earlier passes that wait.
func (l *lookups) pendingCommands(ctx context.Context, h *reading) (_ []work.Event, err error) {
	if l.asked {
		return l.commands, nil
	}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		l.commands, err = tx.ListPendingCommands(ctx, h.row.ID)
		return err
	})
	l.asked = err == nil
	return l.commands, err
}

// remember remembers an answer, unless it is none.
func remember[K comparable, V any](answers *map[K]V, k K, v V, err error) (V, error) {
	if err != nil {
		return v, err
	}
	if *answers == nil {
		*answers = map[K]V{}
	}
	(*answers)[k] = v
	return v, nil
}

// mayChange reports whether a known version that is read once more may count again: it
// was ended for another one, or with what its turn was to answer, or there are others.
func mayChange(k store.KnownEvent) bool {
	return k.Edited || k.Outcome == store.OutcomeEdited || k.Outcome == work.OutcomeVoid+work.ReasonGone
}

// commentVersion is what the versions of one comment have in common.
type commentVersion struct {
	number int
	kind   work.EventKind
	source string
}

func versionOf(e work.Event) commentVersion { return commentVersion{e.Number, e.Kind, e.Source} }

// severalVersions are the comments that are listed in more than one version.
func severalVersions(all []candidate) map[commentVersion]bool {
	first, several := map[commentVersion]string{}, map[commentVersion]bool{}
	for _, c := range all {
		of := versionOf(c.event)
		if key, listed := first[of]; !listed {
			first[of] = c.event.Key
		} else if key != c.event.Key {
			several[of] = true
		}
	}
	return several
}
