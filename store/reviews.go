package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Reviews is everything stored about the reviews of one pull request. Its lists are oldest first.
type Reviews struct {
	Record    review.Record
	Verdicts  []review.Verdict
	Findings  []review.Finding
	Fixes     []review.Fix
	Inserted  []review.Insertion // reviewers that another reviewer called in
	Requested []ReviewRequest    // reviews requested from people
	Held      *review.Held       // nil: no person holds the reviews
	LabelHead string             // somebody else's pull request: its head when the label was set
	Look      int                // 0: nothing changed since the last decision; MarkReviewsDecided clears it
	Policy    string             // hash of the settings used by the last decision
}

// GetReviews returns what is stored about the reviews of a pull request. If nothing is stored, only
// the pull request's id is set.
func (t *Tx) GetReviews(ctx context.Context, pullID int64) (Reviews, error) {
	all, err := t.ListReviews(ctx, []int64{pullID})
	return all[pullID], err
}

// ListReviews returns what GetReviews returns, for many pull requests, by their ids.
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

// ofPulls restricts a query to some pull requests.
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
		err = row.Scan(append(recordFields(&s.Record), timeOf(&held.At), &held.By, &held.Labelled, &s.LabelHead, &s.Look, &s.Policy)...)
		if held != (review.Held{}) {
			s.Held = &held
		}
		return s, err
	}
	found, err := listIn(ctx, t, "list where reviews stand", scan,
		`SELECT `+recordColumns+`, held_at, held_by, held_labelled, label_head, look, policy FROM pull_reviews `+ofPulls, ids)
	for _, s := range found {
		*all[s.Record.PullID] = s
	}
	return err
}

// ensureReview creates the pull request's row, in the state without reviews, if it is missing.
func (t *Tx) ensureReview(ctx context.Context, what string, pullID int64) error {
	return t.write(ctx, what,
		`INSERT INTO pull_reviews (pull_id, repo_id, since) VALUES (?1, (SELECT repo_id FROM pull_requests WHERE id = ?1), ?2) ON CONFLICT (pull_id) DO NOTHING`,
		pullID, millis(t.now))
}

// PutReviewState moves the reviews of a pull request from before to after. It fails with ErrStale
// if state, head, reviewer, epoch or cycle changed since they were read. Since is the transaction's
// time unless after sets it; it is unchanged if state and epoch are. FailReview writes the fields
// of a failed turn; a new epoch clears them.
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
	return t.execOne(ctx, what, ErrStale,
		`UPDATE pull_reviews SET since = CASE WHEN state = ?2 AND epoch = ?6 THEN since ELSE ?3 END, state = ?2, head = ?4, reviewer = ?5, cycle = ?7, why = ?8, merge_type = ?9,
		 failed_key `+kept+`failed_key ELSE '' END, failed_why `+kept+`failed_why ELSE '' END, last_error `+kept+`last_error ELSE '' END,
		 retries `+kept+`retries ELSE 0 END, epoch = ?6
		 WHERE pull_id = ?1 AND state = ?10 AND head = ?11 AND reviewer = ?12 AND epoch = ?13 AND cycle = ?14`,
		after.PullID, after.State, millis(since), after.Head, after.Reviewer, after.Epoch, after.Cycle, reasonOf(&why), after.MergeType,
		before.State, before.Head, before.Reviewer, before.Epoch, before.Cycle)
}

// FailReview stores which turn failed for good, and why. It writes FailedKey, FailedWhy, Retries
// and LastError of the record; then the plan decides the reviews again.
func (t *Tx) FailReview(ctx context.Context, r review.Record) error {
	what := fmt.Sprintf("fail the reviews of pull request %d", r.PullID)
	if err := t.ensureReview(ctx, what, r.PullID); err != nil {
		return err
	}
	why := r.FailedWhy.Map(t.clean)
	return t.execOne(ctx, what, ErrNotFound,
		`UPDATE pull_reviews SET failed_key = ?, failed_why = ?, retries = ?, last_error = ?, look = look + 1 WHERE pull_id = ?`,
		r.FailedKey, reasonOf(&why), r.Retries, t.clean(r.LastError), r.PullID)
}

// ForgetReviews deletes the row of an ended pull request that was never reviewed.
func (t *Tx) ForgetReviews(ctx context.Context, pullID int64) error {
	return t.write(ctx, fmt.Sprintf("forget the reviews of pull request %d", pullID), `DELETE FROM pull_reviews WHERE pull_id = ? AND state = ''`, pullID)
}

// SetHold stores a person's hold of the reviews, or that there is none. An unchanged hold is not
// written; otherwise the reviews are decided again.
func (t *Tx) SetHold(ctx context.Context, pullID int64, held review.Held) error {
	return t.changeReview(ctx, pullID, "hold", `held_at = ?2, held_by = ?3, held_labelled = ?4`, `held_at <> ?2 OR held_by <> ?3 OR held_labelled <> ?4`,
		timeOf(&held.At), held.By, held.Labelled)
}

// SetLabelHead stores the head that somebody else's pull request had when the label was set. An
// unchanged head is not written; otherwise the reviews are decided again.
func (t *Tx) SetLabelHead(ctx context.Context, pullID int64, head string) error {
	return t.changeReview(ctx, pullID, "label head", `label_head = ?2`, `label_head <> ?2`, head)
}

func (t *Tx) changeReview(ctx context.Context, pullID int64, name, set, differs string, args ...any) error {
	what := fmt.Sprintf("set the %s of pull request %d", name, pullID)
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	return t.write(ctx, what, `UPDATE pull_reviews SET `+set+`, look = look + 1 WHERE pull_id = ?1 AND (`+differs+`)`, append([]any{pullID}, args...)...)
}

// MarkReviewsChanged makes the next plan decide a pull request's reviews again, because its head,
// checks or comments changed. The other writes of this file do so themselves.
func (t *Tx) MarkReviewsChanged(ctx context.Context, pullID int64) error {
	return t.countReviewChange(ctx, fmt.Sprintf("have the reviews of pull request %d looked at", pullID), pullID)
}

func (t *Tx) countReviewChange(ctx context.Context, what string, pullID int64) error {
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	return t.execOne(ctx, what, ErrNotFound, `UPDATE pull_reviews SET look = look + 1 WHERE pull_id = ?`, pullID)
}

// inOpenPulls restricts a query to the open pull requests of a repository.
const inOpenPulls = `pull_id IN (SELECT id FROM pull_requests WHERE repo_id = ? AND state = 'open')`

// ListAwaitedReviewers returns the names of the reviewers for whom open pull requests of a repository
// wait.
func (t *Tx) ListAwaitedReviewers(ctx context.Context, repoID int64) ([]string, error) {
	return listRows(ctx, t, fmt.Sprintf("list for whom the reviews of repository %d wait", repoID), scanString,
		`SELECT DISTINCT reviewer FROM pull_reviews WHERE `+inOpenPulls+` AND state = ?`, repoID, review.Reviewing)
}

// MarkReviewsDecided records that a pull request's reviews were decided with a policy. look is the
// count that was read with them: if a change raised it since, the reviews stay undecided. Unchanged
// values are not written.
func (t *Tx) MarkReviewsDecided(ctx context.Context, pullID int64, look int, policy string) error {
	what := fmt.Sprintf("record the look at the reviews of pull request %d", pullID)
	if err := t.ensureReview(ctx, what, pullID); err != nil {
		return err
	}
	return t.write(ctx, what,
		`UPDATE pull_reviews SET policy = ?2, look = CASE look WHEN ?3 THEN 0 ELSE look END WHERE pull_id = ?1 AND (policy <> ?2 OR look > 0 AND look = ?3)`,
		pullID, policy, look)
}

// ListUndecidedReviews returns the work items of a repository whose reviews must be decided again:
// a fact or the policy changed since the last decision.
func (t *Tx) ListUndecidedReviews(ctx context.Context, repoID int64, policy string) ([]int64, error) {
	// Each of the three selects reads its own part of an index, so the many pull requests that wait
	// for people cost nothing.
	const open = ` AND state NOT IN ('merged', 'closed')`
	return listRows(ctx, t, "list reviews to look at", scanID,
		`WITH looking AS (
			SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND look > 0
			UNION SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND policy < ?2`+open+`
			UNION SELECT pull_id, state FROM pull_reviews WHERE repo_id = ?1 AND policy > ?2`+open+`)
		 SELECT DISTINCT p.item_id FROM looking l JOIN pull_requests p ON p.id = l.pull_id
		 WHERE p.item_id IS NOT NULL AND (p.state = ?3 OR l.state NOT IN ('', 'merged', 'closed')) ORDER BY p.item_id`, repoID, policy, work.PullOpen)
}
