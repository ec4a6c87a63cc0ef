package reviews

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const fixColumns = `pull_id, review_id, epoch, cycle, reviewer, turn_id, head, commit_oid, outcome, at`

func fixFields(f *review.Fix) []any {
	return []any{&f.PullID, &f.ReviewID, &f.Epoch, &f.Cycle, &f.Reviewer, &f.TurnID, &f.Head, &f.Commit, &f.Outcome, rows.TimeOf(&f.At)}
}

func scanFix(row rows.Row) (f review.Fix, err error) { return f, row.Scan(fixFields(&f)...) }

func (t Rows) loadFixes(ctx context.Context, all map[int64]*Stored, ids string) error {
	found, err := rows.List(ctx, t.tx, "list fixes", scanFix, `SELECT `+fixColumns+` FROM fixes `+ofPulls+`ORDER BY epoch, cycle, at, review_id`, ids)
	for _, f := range found {
		all[f.PullID].Fixes = append(all[f.PullID].Fixes, f)
	}
	return err
}

// PutFix stores how a fix of a review ended, in this epoch and cycle. A known one stays,
// unless this one was pushed: its commit proves that.
func (t Rows) PutFix(ctx context.Context, f review.Fix) error {
	if f.At.IsZero() {
		f.At = t.tx.Now
	}
	fields := fixFields(&f)
	what := fmt.Sprintf("put the fix of review %d of pull request %d", f.ReviewID, f.PullID)
	n, err := t.tx.Exec(ctx, what,
		`INSERT INTO fixes (`+fixColumns+`) VALUES (`+rows.Marks(len(fields))+`)
		 ON CONFLICT (pull_id, review_id, epoch, cycle) DO UPDATE SET turn_id = excluded.turn_id, head = excluded.head,
		 commit_oid = excluded.commit_oid, outcome = excluded.outcome, at = excluded.at
		 WHERE excluded.outcome = 'pushed' AND fixes.outcome <> 'pushed'`, fields...)
	if err != nil || n == 0 {
		return err
	}
	return t.raise(ctx, what, f.PullID)
}

// AddInsertion records that a reviewer was called in, and tells whether that is new: each
// is called in once for a pull request.
func (t Rows) AddInsertion(ctx context.Context, in review.Insertion) (bool, error) {
	what := fmt.Sprintf("call %s in for pull request %d", in.Name, in.PullID)
	n, err := t.tx.Exec(ctx, what,
		`INSERT INTO insertions (pull_id, name, by_reviewer, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, in.PullID, in.Name, in.By, t.tx.Stamp(in.At))
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.raise(ctx, what, in.PullID)
}

func (t Rows) loadInsertions(ctx context.Context, all map[int64]*Stored, ids string) error {
	scan := func(row rows.Row) (in review.Insertion, err error) {
		return in, row.Scan(&in.PullID, &in.Name, &in.By, rows.TimeOf(&in.At))
	}
	found, err := rows.List(ctx, t.tx, "list who was called in", scan, `SELECT pull_id, name, by_reviewer, at FROM insertions `+ofPulls+`ORDER BY at, rowid`, ids)
	for _, in := range found {
		all[in.PullID].Inserted = append(all[in.PullID].Inserted, in)
	}
	return err
}

// Request is that a person was asked for a review of a head.
type Request struct {
	PullID   int64
	Reviewer string
	Head     string
	At       time.Time
}

// AddRequest records that a person is asked for a review, and tells whether that is new.
func (t Rows) AddRequest(ctx context.Context, r Request) (bool, error) {
	n, err := t.tx.Exec(ctx, fmt.Sprintf("ask %s for a review of pull request %d", r.Reviewer, r.PullID),
		`INSERT INTO review_requests (pull_id, reviewer, head, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.PullID, r.Reviewer, r.Head, t.tx.Stamp(r.At))
	return n == 1, err
}

func (t Rows) loadRequests(ctx context.Context, all map[int64]*Stored, ids string) error {
	scan := func(row rows.Row) (r Request, err error) {
		return r, row.Scan(&r.PullID, &r.Reviewer, &r.Head, rows.TimeOf(&r.At))
	}
	found, err := rows.List(ctx, t.tx, "list who was asked", scan, `SELECT pull_id, reviewer, head, at FROM review_requests `+ofPulls+`ORDER BY at, rowid`, ids)
	for _, r := range found {
		all[r.PullID].Requested = append(all[r.PullID].Requested, r)
	}
	return err
}
