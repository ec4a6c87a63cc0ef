package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Verdict stores a verdict that a person gave by a command.
type Verdict struct {
	review.Verdict
	Words
}

// Apply is part of Change.
func (c Verdict) Apply(ctx context.Context, tx *Tx) error {
	if _, _, err := tx.AddVerdict(ctx, c.Verdict); err != nil {
		return err
	}
	return tx.MarkReviewsChanged(ctx, c.PullID)
}

// Hold starts or ends a hold of a pull request's reviews by a command.
type Hold struct {
	Pull int64
	Held review.Held // zero: it ends
	Words
}

// Apply is part of Change.
func (c Hold) Apply(ctx context.Context, tx *Tx) error { return tx.SetHold(ctx, c.Pull, c.Held) }

// Unlabelled takes a label out of a pull request's merge box as it was last read: a command has ended what it says, and
// until the next pass reads it, every view would still name it.
type Unlabelled struct {
	Pull  int64
	Label string
	Words
}

// Apply is part of Change.
func (c Unlabelled) Apply(ctx context.Context, tx *Tx) error {
	box, known, err := tx.GetBox(ctx, c.Pull)
	if err != nil || !known {
		return err
	}
	return tx.PutBox(ctx, c.Pull, box.Without(c.Label))
}

// RequestReview stores that a person is asked to review a head.
type RequestReview struct {
	Pull     int64
	Reviewer string
	Head     string
	Words
}

// Apply is part of Change.
func (c RequestReview) Apply(ctx context.Context, tx *Tx) error {
	_, err := tx.AddRequest(ctx, store.ReviewRequest{PullID: c.Pull, Reviewer: c.Reviewer, Head: c.Head})
	return err
}

// Review stores a step of a pull request's reviews. A step that another pass overtook is ignored.
type Review struct {
	Item   int64
	Number int // of the pull request
	review.Step
	Words
}

// Apply is part of Change.
func (c Review) Apply(ctx context.Context, tx *Tx) error {
	if err := c.apply(ctx, tx); err != nil && !errors.Is(err, store.ErrStale) {
		return fmt.Errorf("#%d: %w", c.Number, err)
	}
	return nil
}

func (c Review) apply(ctx context.Context, tx *Tx) error {
	if err := tx.PutReviewState(ctx, c.Before, c.Record); err != nil {
		return err
	}
	for _, in := range c.Inserted {
		if _, err := tx.AddInsertion(ctx, in); err != nil {
			return err
		}
	}
	log := c.Logged
	if c.Moves() {
		detail := string(c.Record.State)
		if c.Record.Reviewer != "" {
			detail += ": " + c.Record.Reviewer
		}
		if err := tx.AddHistory(ctx, work.History{RepoID: tx.Repo.ID, ItemID: c.Item, Number: c.Number, What: "review", Detail: detail}); err != nil {
			return err
		}
		log = append(slices.Clip(log), c.moved())
	}
	for _, l := range log {
		if err := tx.logReview(ctx, c.Item, c.Number, l); err != nil {
			return err
		}
	}
	return nil
}

// PostedReview stores a review that a turn posted.
type PostedReview struct {
	review.Verdict
	Findings []review.Finding // new ones
	Resolved []string         // ids of earlier findings
	Inserted []review.Insertion
	Words
}

// Apply is part of Change.
func (c PostedReview) Apply(ctx context.Context, tx *Tx) error {
	id, _, err := tx.AddVerdict(ctx, c.Verdict)
	if err != nil {
		return err
	}
	if c.Validity == review.Moved { // ingest may have stored the verdict before, without this validity
		if _, err := tx.MarkVerdict(ctx, id, review.Moved); err != nil {
			return err
		}
	}
	found := slices.Clone(c.Findings)
	for i := range found {
		found[i].PullID, found[i].VerdictID = c.PullID, id
	}
	if err := tx.PutFindings(ctx, found); err != nil {
		return err
	}
	if err := tx.ResolveFindings(ctx, c.PullID, id, c.Resolved); err != nil {
		return err
	}
	for _, in := range c.Inserted {
		if _, err := tx.AddInsertion(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// Fix stores the result of a fix turn.
type Fix struct {
	review.Fix
	Answered []review.Finding // with the author's answers
	Words
}

// Apply is part of Change.
func (c Fix) Apply(ctx context.Context, tx *Tx) error {
	if err := tx.PutFix(ctx, c.Fix); err != nil {
		return err
	}
	return tx.PutFindings(ctx, c.Answered)
}

// FailReview stores that a review or fix turn failed for good; the plan decides what comes next.
type FailReview struct {
	review.Record
	Words
}

// Apply is part of Change.
func (c FailReview) Apply(ctx context.Context, tx *Tx) error { return tx.FailReview(ctx, c.Record) }

// LookAgain makes the next pass decide a pull request's reviews again.
type LookAgain struct {
	Pull int64
	Words
}

// Apply is part of Change.
func (c LookAgain) Apply(ctx context.Context, tx *Tx) error {
	return tx.MarkReviewsChanged(ctx, c.Pull)
}

// LogReview stores a fact about reviews.
type LogReview struct {
	Item   int64
	Number int // of the pull request
	review.LogEntry
	Words
}

// Apply is part of Change.
func (c LogReview) Apply(ctx context.Context, tx *Tx) error {
	return tx.logReview(ctx, c.Item, c.Number, c.LogEntry)
}

// moved logs a change of the reviews' state. Its key has the start of the earlier state, as the
// same change may happen again later.
func (c Review) moved() review.LogEntry {
	return review.LogEntry{
		Key:  fmt.Sprintf("review_state:%d:%d:%s:%s:%s", c.Number, c.Before.Since.UnixMilli(), c.Record.State, c.Record.Reviewer, c.Record.Head),
		What: "review_state",
		Data: map[string]any{
			"from": string(c.Before.State), "to": string(c.Record.State), "reviewer": c.Record.Reviewer, "head": c.Record.Head, "cycle": c.Record.Cycle,
		},
	}
}

// logReview stores a fact about reviews. If it is new, it is logged after the transaction.
func (tx *Tx) logReview(ctx context.Context, item int64, number int, l review.LogEntry) error {
	b, err := json.Marshal(l.Data)
	if err != nil {
		return err
	}
	entry := store.ReviewLog{RepoID: tx.Repo.ID, ItemID: item, Number: number, Key: l.Key, What: l.What, Data: string(b)}
	fresh, err := tx.AddReviewLog(ctx, entry)
	if fresh {
		tx.logged = append(tx.logged, entry)
	}
	return err
}

// ReviewsDecided marks reviews as decided until something changes, so that an idle pass skips them.
type ReviewsDecided struct {
	known.DecidedInputs
	Words
}

// Apply is part of Change.
func (c ReviewsDecided) Apply(ctx context.Context, tx *Tx) error {
	return tx.MarkReviewsDecided(ctx, c.Pull, c.Count, c.Policy)
}
