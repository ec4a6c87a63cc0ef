package ingest

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// lookups cache what the database has about issues and pull requests while comments are ingested: of
// a thousand comments on one of them only the first asks, also if others stand between them.
type lookups struct {
	places   map[int]place
	foreign  map[int]bool
	numbers  map[whose][]int
	pauses   map[int][]work.Pause // by the number that they are of
	fixed    map[int][]int64      // by pull request: the reviews of people for which fixes are made
	commands []work.Event         // pending ones
	asked    bool                 // commands was read
}

// place is what the number of a comment is to us.
type place struct {
	kind work.EventKind // empty if nothing is worked on there
	item int64
}

// whose is the key by which lookups cache the partners of a comment.
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

// onForeignPull reports whether a number is somebody else's pull request.
func (l *lookups) onForeignPull(ctx context.Context, h *reading, number int) (bool, error) {
	if theirs, known := l.foreign[number]; known {
		return theirs, nil
	}
	theirs := false
	pull, tracked, err := h.pull(ctx, number)
	if tracked {
		var item work.Item
		item, err = h.itemOfPull(ctx, pull)
		theirs = item.Flow == work.FlowReview
	}
	return remember(&l.foreign, number, theirs, err)
}

// fixedFor reports whether a comment belongs to a stored verdict for which a fix is made. The review
// may not be read again with a comment that was edited.
func (l *lookups) fixedFor(ctx context.Context, h *reading, e work.Event) (bool, error) {
	reviews, known := l.fixed[e.Number]
	if !known {
		pull, _, err := h.pull(ctx, e.Number)
		if err == nil && pull.ID != 0 {
			err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
				stored, err := tx.GetReviews(ctx, pull.ID)
				reviews = nil
				for _, v := range stored.Verdicts {
					if asksFix(v) && v.Validity != review.TakenBack {
						reviews = append(reviews, v.ReviewID)
					}
				}
				return err
			})
		}
		if reviews, err = remember(&l.fixed, e.Number, reviews, err); err != nil {
			return false, err
		}
	}
	return e.Review != 0 && slices.Contains(reviews, e.Review), nil
}

// asksFix reports whether a verdict is a person's who is a reviewer and requests changes: a fix is
// made for it, and its comments are no feedback beside it.
func asksFix(v review.Verdict) bool {
	return v.Human && v.Reviewer != "" && v.Decision == review.RequestChanges
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

// pendingCommands returns the pending commands of earlier passes.
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

// remember caches an answer, unless it is an error.
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

// mayChange reports whether a known version that is read again may count again: it has other
// versions, was ended for one or together with what its turn was to answer, or did not count for its
// last editor or because it was hidden.
func mayChange(k store.KnownEvent) bool {
	return k.Edited || work.ByWord(k.Outcome) || k.Outcome == store.OutcomeEdited || k.Outcome == work.OutcomeVoid+work.ReasonGone
}

// commentVersion identifies a comment; its versions share it.
type commentVersion struct {
	number int
	kind   work.EventKind
	source string
}

func versionOf(e work.Event) commentVersion { return commentVersion{e.Number, e.Kind, e.Source} }

// severalVersions returns the comments that are listed in more than one version.
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
