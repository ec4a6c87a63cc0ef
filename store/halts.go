package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// mergeCandidates selects the ids of a repository's pull requests that may be merged: each is open,
// the newest of an open work item of one of our flows, and approved or being checked for approval.
const mergeCandidates = `SELECT p.id FROM pull_requests p JOIN work_items i ON i.id = p.item_id JOIN pull_reviews r ON r.pull_id = p.id
	WHERE p.repo_id = ? AND p.state = 'open' AND r.state IN ('` + string(review.Approved) + `', '` + string(review.Checking) + `')
	AND i.flow <> '` + string(work.FlowReview) + `' AND i.state NOT IN ('merged', 'completed', 'closed')
	AND NOT EXISTS (SELECT 1 FROM pull_requests newer WHERE newer.item_id = p.item_id AND newer.number > p.number)`

// inARow is how many merges in a row may land with another result than intended before merging is
// halted.
const inARow = 2

// countDiffering counts the consecutive merges that landed with another result than intended.
func (t *Tx) countDiffering(ctx context.Context, repoID int64, differs bool, halt work.Reason) (halted bool, err error) {
	what := fmt.Sprintf("count what landed in repository %d", repoID)
	if !differs {
		err := t.write(ctx, what, `UPDATE repositories SET merge_differs = 0 WHERE id = ? AND merge_differs > 0`, repoID)
		return false, err
	}
	n, err := getRow(ctx, t, what, scanCount, `UPDATE repositories SET merge_differs = merge_differs + 1 WHERE id = ? RETURNING merge_differs`, repoID)
	if err != nil || n < inARow {
		return false, err
	}
	return true, t.StopMerging(ctx, repoID, halt)
}

// StopMerging halts merging in a repository, and stores since when and why. If merging is halted
// already, the first reason is kept.
func (t *Tx) StopMerging(ctx context.Context, repoID int64, why work.Reason) error {
	what := fmt.Sprintf("stop merging in repository %d", repoID)
	if why.None() {
		return fmt.Errorf("%s: for no reason", what)
	}
	why = why.Map(t.clean)
	n, err := t.exec(ctx, what,
		`UPDATE repositories SET merge_why = ?, merge_stopped_at = ?, merge_told = 0 WHERE id = ? AND merge_why = ''`, reasonOf(&why), millis(t.now), repoID)
	if err != nil || n == 0 {
		return err
	}
	return t.markCandidatesChanged(ctx, repoID)
}

// ResumeMerging ends a halt, and reports whether there was one. It resets the count of merges with
// another result.
func (t *Tx) ResumeMerging(ctx context.Context, repoID int64) (bool, error) {
	n, err := t.exec(ctx, fmt.Sprintf("resume merging in repository %d", repoID),
		`UPDATE repositories SET merge_differs = 0, merge_why = '', merge_resumed = merge_stopped_at, merge_stopped_at = 0, merge_told = 0 WHERE id = ? AND merge_why <> ''`, repoID)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.markCandidatesChanged(ctx, repoID)
}

func (t *Tx) markCandidatesChanged(ctx context.Context, repoID int64) error {
	all, err := listRows(ctx, t, "list who waits to be merged", scanID, mergeCandidates, repoID)
	for _, id := range all {
		if err == nil {
			err = t.MarkReviewsChanged(ctx, id)
		}
	}
	return err
}

// MergingStopped returns why merging is halted in a repository. It returns false if it is not.
func (t *Tx) MergingStopped(ctx context.Context, repoID int64) (merging.Halt, bool, error) {
	scan := func(row scanner) (h merging.Halt, err error) {
		return h, row.Scan(reasonOf(&h.Why), timeOf(&h.At), &h.Reported)
	}
	return findRow(ctx, t, fmt.Sprintf("find why repository %d is not merged into", repoID), scan,
		`SELECT merge_why, merge_stopped_at, merge_told FROM repositories WHERE id = ? AND merge_why <> ''`, repoID)
}

// MergingResumed reports whether a person has ended the halt that began at a time. Where the database
// was lost since, nobody knows.
func (t *Tx) MergingResumed(ctx context.Context, repoID int64, began time.Time) (bool, error) {
	if began.IsZero() {
		return false, nil
	}
	_, is, err := findRow(ctx, t, fmt.Sprintf("find out whether repository %d is merged into again", repoID), scanID,
		`SELECT id FROM repositories WHERE id = ? AND merge_resumed >= ?`, repoID, millis(began))
	return is, err
}

// ListUnreportedHalts returns the repositories in which merging is halted and no pass reported it
// with its exit code.
func (t *Tx) ListUnreportedHalts(ctx context.Context) ([]int64, error) {
	return listRows(ctx, t, "list where merging stopped", scanID, `SELECT id FROM repositories WHERE merge_why <> '' AND merge_told = 0 ORDER BY id`)
}

// MarkHaltReported records that a pass reports the halt with its exit code, and returns whether it
// is the first.
func (t *Tx) MarkHaltReported(ctx context.Context, repoID int64) (first bool, err error) {
	n, err := t.exec(ctx, fmt.Sprintf("tell that repository %d is not merged into", repoID),
		`UPDATE repositories SET merge_told = 1 WHERE id = ? AND merge_why <> '' AND merge_told = 0`, repoID)
	return n == 1, err
}
