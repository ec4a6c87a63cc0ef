// Package change has a type for each change that a pass may store. Deciding code returns a list of
// changes; one loop applies them in one transaction, and a dry run prints the same values.
package change

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// Change is one thing to store.
type Change interface {
	// Line returns the change in words. Its What is empty if another line has the same.
	Line() Line
	// Apply stores the change. A transaction may be retried, so Apply may run twice; it changes
	// only tx.
	Apply(ctx context.Context, tx *Tx) error
}

// kinds has a row for each kind of change, in the order in which a pass applies them.
var kinds = []Change{
	Verdict{},
	Hold{},
	Unlabelled{},
	RequestReview{},
	Review{}, // before moves: the text of a stop comment depends on the reviews
	PostedReview{},
	Fix{},
	FailReview{},
	LookAgain{},
	LogReview{},
	OpenPull{}, // before moves: a stop comment is posted on the pull request
	ItemResult{},
	AwaitComment{}, // before EndTurn, which releases the turn's own comments
	Table{},        // before moves, which mark it as due again
	Takeover{},     // before moves, which may end its stop
	Move{},
	AfterTurn{}, // before EndTurn, as above
	AcceptHead{},
	AllowAgents{},
	Pause{},
	Wait{},
	FinishEvents{},
	RenewBudget{},
	LocalCommand{},
	Replan{}, // after moves: the change before it may end in the same pass
	Command{},
	Failure{},
	LostHead{},
	KeepSession{},
	DeferTurn{},
	BlockTurn{},
	EndTurn{},
	RedoTurn{},
	CancelTurn{},
	RereadPull{},
	RetryShelved{},
	ResumeTurn{},
	RoadmapNode{},
	Roadmap{},
	ForgetNotice{},
	RetryNotice{},
	Notice{},
	RoadmapDecided{}, // after all that changes roadmaps: it marks one as decided
	MergeApproval{},
	ForgetMerge{},
	MergeNow{},
	Merge{},
	ReviewsDecided{}, // after all that moves reviews: it marks them as decided
	&Claim{},
}

// Kind returns the name of a change's kind.
func Kind(c Change) string {
	return strings.TrimPrefix(strings.TrimPrefix(reflect.TypeOf(c).String(), "*"), "change.")
}

// place returns a change's place among the kinds; -1: none.
func place(c Change) int {
	return slices.IndexFunc(kinds, func(k Change) bool { return reflect.TypeOf(k) == reflect.TypeOf(c) })
}

// Line is a decision in words, for a dry run.
type Line struct {
	Item   int64           `json:"-"` // 0: it is about no item
	Number int             `json:"number"`
	Kind   work.Kind       `json:"kind"` // empty: it is about no turn
	What   string          `json:"what"` // `turn`, `wait`, `leave`, `notice`, `move`, `finish`, `command`, `resume`, `labels`, `review` or `merge`
	Reason string          `json:"reason"`
	Code   work.ReasonKind `json:"reasonCode"`
	Why    []work.Reason   `json:"-"`
}

// Words is embedded by each kind of change. Says is the line that describes the change in the
// printed plan; it is empty if the line of another change covers it.
type Words struct{ Says Line }

// Line returns the change in words.
func (w Words) Line() Line { return w.Says }

// Tx is the transaction that changes are applied in.
type Tx struct {
	*store.Tx
	Repo work.Repo
	Now  time.Time
	Show Shower

	logged []store.ReviewLog
}

// Shower stores what GitHub will show of a change.
type Shower interface {
	// Move moves an item, and updates its labels and the comment about its stop. It returns
	// store.ErrStale if the item's state does not allow the move.
	Move(ctx context.Context, tx *store.Tx, m work.Move, now time.Time) error
	// ShowRoadmap updates the label of a roadmap's issue, and the comment about its stop, after the
	// roadmap moved.
	ShowRoadmap(ctx context.Context, tx *store.Tx, r roadmap.Record, now time.Time) error
	// ShowTakeover updates a stop comment when a pause begins or ends.
	ShowTakeover(ctx context.Context, tx *store.Tx, b work.PauseBanner, now time.Time) error
}

// Applier applies changes to a database.
type Applier struct {
	Store *store.DB
	Show  Shower
	Now   func() time.Time
}

// Apply applies a repository's changes in one transaction. It returns the new log entries about
// reviews.
func (a Applier) Apply(ctx context.Context, repo work.Repo, changes []Change) ([]store.ReviewLog, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	changes = slices.Clone(changes)
	sorted.By(changes, func(a, b Change) int { return place(a) - place(b) })
	now := a.Now()
	var logged []store.ReviewLog
	err := a.Store.Update(ctx, func(rows *store.Tx) error {
		return rows.Ahead(ctx, func(rows *store.Tx) error {
			tx := &Tx{Repo: repo, Now: now, Show: a.Show}
			for _, c := range changes {
				if place(c) < 0 {
					return fmt.Errorf("%s is no kind of change", Kind(c))
				}
				before := tx.logged
				err := rows.Ahead(ctx, func(part *store.Tx) error {
					tx.Tx, tx.logged = part, before
					return c.Apply(ctx, tx)
				})
				if err != nil {
					return fmt.Errorf("apply %s: %w", Kind(c), err)
				}
			}
			logged = tx.logged
			return nil
		})
	})
	return logged, err
}
