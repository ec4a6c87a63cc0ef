package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Reviews is all that is stored of the reviews of one pull request.
type Reviews struct {
	Record    review.Record
	Verdicts  []review.Verdict   // the oldest first, as the others
	Findings  []review.Finding   //
	Fixes     []review.Fix       //
	Inserted  []review.Insertion // in the order in which they were called in
	Requested []ReviewRequest    //
	Held      *review.Held       // nil: nobody holds it
	LabelHead string             // of somebody else's pull request: the head that whoever set the label had in view
	Look      int                // 0: nothing changed since it was decided last; Looked takes it
	Policy    string             // by which it was decided last
}

// Facts are what internal/work/review decides by, as far as it is stored.
func (s Reviews) Facts() review.Facts {
	return review.Facts{Record: s.Record, Verdicts: s.Verdicts, Findings: s.Findings, Fixes: s.Fixes, Inserted: s.Inserted}
}

// AskedOf gives the heads for which a person was asked for a review, the earliest first.
func (s Reviews) AskedOf(reviewer string) []string {
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
func (t *Tx) GetReviews(ctx context.Context, pullID int64) (Reviews, error) {
	all, err := t.ListReviews(ctx, []int64{pullID})
	return all[pullID], err
}

// ListReviews is GetReviews for many, by pull request.
func (t *Tx) ListReviews(ctx context.Context, pullIDs []int64) (map[int64]Reviews, error) {
	all := make(map[int64]*Reviews, len(pullIDs))
	for _, id := range pullIDs {
		all[id] = &Reviews{Record: review.Record{PullID: id}}
	}
	var err error
	for _, load := range []func(context.Context, map[int64]*Reviews, []int64) error{
		t.loadRecords, t.loadVerdicts, t.loadFindings, t.loadFixes, t.loadInsertions, t.loadRequests,
	} {
		if err == nil {
			err = load(ctx, all, pullIDs)
		}
	}
	stored := make(map[int64]Reviews, len(all))
	for id, s := range all {
		stored[id] = *s
	}
	return stored, err
}

// ofPulls narrows a query to the pull requests of loadRecords and the others.
const ofPulls = `WHERE pull_id IN (%s)`

const recordColumns = `pull_id, state, since, head, reviewer, epoch, cycle, why, merge_type, failed_key, failed_why, retries, last_error`

func recordFields(r *review.Record) []any {
	return []any{
		&r.PullID, &r.State,
		timeOf(&r.Since),
		&r.Head, &r.Reviewer, &r.Epoch, &r.Cycle,
		reasonOf(&r.Why),
		&r.MergeType, &r.FailedKey,
		reasonOf(&r.FailedWhy),
		&r.Retries, &r.LastError,
	}
}

func (t *Tx) loadRecords(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	scan := func(row scanner) (s Reviews, err error) {
		var held review.Held
		err = row.Scan(append(recordFields(&s.Record), timeOf(&held.At), &held.By, &s.LabelHead, &s.Look, &s.Policy)...)
		if held != (review.Held{}) {
			s.Held = &held
		}
		return s, err
	}
	found, err := listIn(ctx, t, "list where reviews stand", scan,
		`SELECT `+recordColumns+`, held_at, held_by, label_head, look, policy FROM pull_reviews `+ofPulls, ids)
	for _, s := range found {
		*all[s.Record.PullID] = s
	}
	return err
}

// ensureReview has a pull request have a row: nothing is reviewed yet.
func (t *Tx) ensureReview(ctx context.Context, what string, pullID int64) error {
	_, err := t.exec(ctx, what,
		`INSERT INTO pull_reviews (pull_id, repo_id, since) SELECT id, repo_id, ? FROM pull_requests WHERE id = ? ON CONFLICT (pull_id) DO NOTHING`,
		millis(t.now), pullID)
	return err
}

// PutReviewState moves the reviews of a pull request from where they stood to where they
// stand, or fails with ErrStale: state, head, reviewer, epoch and cycle are as they were
// read. Since is the transaction's time unless another is given, or stays with state and epoch. Of
// a turn that failed FailReview writes; a new epoch forgets it.
func (t *Tx) PutReviewState(ctx context.Context, before, after review.Record) error {
	what := fmt.Sprintf("move the reviews of pull request %d from %q to %q", after.PullID, before.State, after.State)
	if err := t.ensureReview(ctx, what, after.PullID); err != nil {
		return err
	}
	why, since := after.Why.Map(t.clean), after.Since
	if since.IsZero() || since.Equal(before.Since) {
		since = t.now
	}
	const kept = `= CASE epoch WHEN ?6 THEN `
	return t.one(ctx, what, ErrStale,
		`UPDATE pull_reviews SET since = CASE WHEN state = ?2 AND epoch = ?6 THEN since ELSE ?3 END, state = ?2, head = ?4, reviewer = ?5, cycle = ?7, why = ?8, merge_type = ?9,
		 failed_key `+kept+`failed_key ELSE '' END, failed_why `+kept+`failed_why ELSE '' END, last_error `+kept+`last_error ELSE '' END,
		 retries `+kept+`retries ELSE 0 END, epoch = ?6
		 WHERE pull_id = ?1 AND state = ?10 AND head = ?11 AND reviewer = ?12 AND epoch = ?13 AND cycle = ?14`,
		after.PullID, after.State, millis(since), after.Head, after.Reviewer, after.Epoch, after.Cycle, reasonOf(&why), after.MergeType,
		before.State, before.Head, before.Reviewer, before.Epoch, before.Cycle)
}

// FailReview stores which turn failed for good, and why: FailedKey, FailedWhy, Retries
// and LastError of a record. It is to be decided again.
func (t *Tx) FailReview(ctx context.Context, r review.Record) error {
	what := fmt.Sprintf("fail the reviews of pull request %d", r.PullID)
	if err := t.ensureReview(ctx, what, r.PullID); err != nil {
		return err
	}
	why := r.FailedWhy.Map(t.clean)
	return t.one(ctx, what, ErrNotFound,
		`UPDATE pull_reviews SET failed_key = ?, failed_why = ?, retries = ?, last_error = ?, look = look + 1 WHERE pull_id = ?`,
		r.FailedKey, reasonOf(&why), r.Retries, t.clean(r.LastError), r.PullID)
}

// ForgetReviews removes the row of a pull request that nobody reviewed: it is over.
func (t *Tx) ForgetReviews(ctx context.Context, pullID int64) error {
	_, err := t.exec(ctx, fmt.Sprintf("forget the reviews of pull request %d", pullID), `DELETE FROM pull_reviews WHERE pull_id = ? AND state = ''`, pullID)
	return err
}

// SetHold stores that a person holds the reviews of a pull request, or that nobody does.
// As it was already it costs no write; else it is to be decided again.
func (t *Tx) SetHold(ctx context.Context, pullID int64, held review.Held) error {
	return t.changeReview(ctx, pullID, "hold", `held_at = ?2, held_by = ?3`, `held_at <> ?2 OR held_by <> ?3`, timeOf(&held.At), held.By)
}

// SetLabelHead stores the head of somebody else's pull request that whoever set the label
// had in view. As SetHold otherwise.
func (t *Tx) SetLabelHead(ctx context.Context, pullID int64, head string) error {
	return t.changeReview(ctx, pullID, "label head", `label_head = ?2`, `label_head <> ?2`, head)
}

func (t *Tx) changeReview(ctx context.Context, pullID int64, name, set, differs string, args ...any) error {
	what := fmt.Sprintf("set the %s of pull request %d", name, pullID)
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	_, err := t.exec(ctx, what, `UPDATE pull_reviews SET `+set+`, look = look + 1 WHERE pull_id = ?1 AND (`+differs+`)`, append([]any{pullID}, args...)...)
	return err
}

// SetLook records that something else changed by which the reviews of a pull request are
// decided: its head, checks, comments. What is stored here does so itself.
func (t *Tx) SetLook(ctx context.Context, pullID int64) error {
	return t.raiseLook(ctx, fmt.Sprintf("have the reviews of pull request %d looked at", pullID), pullID)
}

func (t *Tx) raiseLook(ctx context.Context, what string, pullID int64) error {
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	return t.one(ctx, what, ErrNotFound, `UPDATE pull_reviews SET look = look + 1 WHERE pull_id = ?`, pullID)
}

// Looked records by which policy the reviews of a pull request were decided. What changed
// since they were read, with that Look, is looked at later. The same again costs no write.
func (t *Tx) Looked(ctx context.Context, pullID int64, look int, policy string) error {
	what := fmt.Sprintf("record the look at the reviews of pull request %d", pullID)
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	_, err := t.exec(ctx, what,
		`UPDATE pull_reviews SET policy = ?2, look = CASE look WHEN ?3 THEN 0 ELSE look END WHERE pull_id = ?1 AND (policy <> ?2 OR look > 0 AND look = ?3)`,
		pullID, policy, look)
	return err
}

// ListLooking gives the work items of a repository whose reviews are to be decided again:
// something changed since, or they were decided by another policy than this one.
func (t *Tx) ListLooking(ctx context.Context, repoID int64, policy string) ([]int64, error) {
	// Each of the three reads its own part of an index, so that the many that wait for
	// people cost nothing.
	const open = ` AND state NOT IN ('merged', 'closed')`
	return listRows(ctx, t, "list reviews to look at", scanID,
		`WITH looking AS (
			SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND look > 0
			UNION SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND policy < ?2`+open+`
			UNION SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND policy > ?2`+open+`)
		 SELECT DISTINCT p.item_id FROM looking l JOIN pull_requests p ON p.id = l.pull_id
		 WHERE p.item_id IS NOT NULL AND (p.state = ?3 OR l.state NOT IN ('', 'merged', 'closed')) ORDER BY p.item_id`, repoID, policy, work.PullOpen)
}
