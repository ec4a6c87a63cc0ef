// Package reviews is what is remembered of the reviews of pull requests: where they
// stand, what was said of which head, what was found and fixed, who was called in.
// internal/work/review decides by it; nothing here does.
package reviews

import (
	"context"
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the rows of reviews, in one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows as a transaction sees them.
func In(tx *rows.Tx) Rows { return Rows{tx} }

// Stored is all that is stored of the reviews of one pull request.
type Stored struct {
	Record    review.Record
	Verdicts  []review.Verdict   // the oldest first, as the others
	Findings  []review.Finding   //
	Fixes     []review.Fix       //
	Inserted  []review.Insertion // in the order in which they were called in
	Requested []Request          //
	Held      *review.Held       // nil: nobody holds it
	LabelHead string             // of somebody else's pull request: the head that whoever set the label had in view
	Look      int                // 0: nothing changed since it was decided last; Looked takes it
	Policy    string             // by which it was decided last
}

// Facts are what internal/work/review decides by, as far as it is stored.
func (s Stored) Facts() review.Facts {
	return review.Facts{Record: s.Record, Verdicts: s.Verdicts, Findings: s.Findings, Fixes: s.Fixes, Inserted: s.Inserted}
}

// AskedOf gives the heads for which a person was asked for a review, the earliest first.
func (s Stored) AskedOf(reviewer string) []string {
	var heads []string
	for _, r := range s.Requested {
		if r.Reviewer == reviewer {
			heads = append(heads, r.Head)
		}
	}
	return heads
}

// GetReviews gives what is stored of the reviews of a pull request; nothing but its id
// where there is nothing.
func (t Rows) GetReviews(ctx context.Context, pullID int64) (Stored, error) {
	all, err := t.ListReviews(ctx, []int64{pullID})
	return all[pullID], err
}

// ListReviews is GetReviews for many, by pull request.
func (t Rows) ListReviews(ctx context.Context, pullIDs []int64) (map[int64]Stored, error) {
	all := make(map[int64]*Stored, len(pullIDs))
	for _, id := range pullIDs {
		all[id] = &Stored{Record: review.Record{PullID: id}}
	}
	ids, err := json.Marshal(pullIDs)
	for _, load := range []func(context.Context, map[int64]*Stored, string) error{
		t.loadRecords, t.loadVerdicts, t.loadFindings, t.loadFixes, t.loadInsertions, t.loadRequests,
	} {
		if err == nil && len(all) > 0 {
			err = load(ctx, all, string(ids))
		}
	}
	stored := make(map[int64]Stored, len(all))
	for id, s := range all {
		stored[id] = *s
	}
	return stored, err
}

// ofPulls narrows a query to the pull requests of loadRecords and the others.
const ofPulls = `WHERE pull_id IN (SELECT value FROM json_each(?)) `
