package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const findingColumns = `pull_id, id, verdict_id, reviewer, head, cycle, path, line, severity, confidence, comment_id, thread_node, resolved_by, body, answer`

func findingFields(x *review.Finding) []any {
	return []any{
		&x.PullID, &x.ID,
		refOf(&x.VerdictID),
		&x.Reviewer, &x.Head, &x.Cycle, &x.Path, &x.Line, &x.Severity, &x.Confidence, &x.CommentID, &x.ThreadNode,
		refOf(&x.ResolvedBy),
		&x.Body, &x.Answer,
	}
}

func scanFinding(row scanner) (x review.Finding, err error) {
	return x, row.Scan(findingFields(&x)...)
}

func (t *Tx) loadFindings(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	found, err := listIn(ctx, t, "list findings", scanFinding, `SELECT `+findingColumns+` FROM findings `+ofPulls+` ORDER BY pull_id, position`, ids)
	for _, x := range found {
		all[x.PullID].Findings = append(all[x.PullID].Findings, x)
	}
	return err
}

// PutFindings stores findings by pull request and id. It adds to a known finding what is learned
// later: verdict, comment, thread and the author's answer. Empty fields remove nothing, and
// unchanged findings are not written. ResolveFindings resolves them.
func (t *Tx) PutFindings(ctx context.Context, findings []review.Finding) error {
	for _, x := range findings {
		fields := findingFields(&x)
		err := t.write(ctx, fmt.Sprintf("put finding %s of pull request %d", x.ID, x.PullID),
			`INSERT INTO findings (`+findingColumns+`, position) VALUES (`+placeholders(len(fields))+`, (SELECT count(*) FROM findings WHERE pull_id = ?))
			 ON CONFLICT (pull_id, id) DO UPDATE SET verdict_id = coalesce(excluded.verdict_id, findings.verdict_id),
			 comment_id = CASE excluded.comment_id WHEN 0 THEN findings.comment_id ELSE excluded.comment_id END,
			 thread_node = CASE excluded.thread_node WHEN '' THEN findings.thread_node ELSE excluded.thread_node END,
			 answer = CASE excluded.answer WHEN '' THEN findings.answer ELSE excluded.answer END
			 WHERE excluded.verdict_id IS NOT NULL AND (findings.verdict_id IS NULL OR excluded.verdict_id <> findings.verdict_id) OR excluded.comment_id NOT IN (0, findings.comment_id)
			 OR excluded.thread_node NOT IN ('', findings.thread_node) OR excluded.answer NOT IN ('', findings.answer)`, append(fields, x.PullID)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// ResolveFindings records the verdict in which a reviewer marked findings as resolved. The first
// such verdict is kept.
func (t *Tx) ResolveFindings(ctx context.Context, pullID, verdictID int64, ids []string) error {
	for _, id := range ids {
		err := t.write(ctx, fmt.Sprintf("resolve finding %s of pull request %d", id, pullID),
			`UPDATE findings SET resolved_by = ? WHERE pull_id = ? AND id = ? AND resolved_by IS NULL`, verdictID, pullID, id)
		if err != nil {
			return err
		}
	}
	return nil
}

const fixColumns = `pull_id, review_id, epoch, cycle, reviewer, turn_id, head, commit_oid, outcome, at`

func fixFields(f *review.Fix) []any {
	return []any{&f.PullID, &f.ReviewID, &f.Epoch, &f.Cycle, &f.Reviewer, &f.TurnID, &f.Head, &f.Commit, &f.Outcome, timeOf(&f.At)}
}

func scanFix(row scanner) (f review.Fix, err error) { return f, row.Scan(fixFields(&f)...) }

func (t *Tx) loadFixes(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	found, err := listIn(ctx, t, "list fixes", scanFix, `SELECT `+fixColumns+` FROM fixes `+ofPulls+` ORDER BY epoch, cycle, at, review_id`, ids)
	for _, f := range found {
		all[f.PullID].Fixes = append(all[f.PullID].Fixes, f)
	}
	return err
}

// PutFix stores how a fix of a review ended, in this epoch and cycle. A stored fix is replaced only
// if the new one was pushed and the stored one was not: a pushed commit proves the fix.
func (t *Tx) PutFix(ctx context.Context, f review.Fix) error {
	if f.At.IsZero() {
		f.At = t.now
	}
	fields := fixFields(&f)
	what := fmt.Sprintf("put the fix of review %d of pull request %d", f.ReviewID, f.PullID)
	n, err := t.exec(ctx, what,
		`INSERT INTO fixes (`+fixColumns+`) VALUES (`+placeholders(len(fields))+`)
		 ON CONFLICT (pull_id, review_id, epoch, cycle) DO UPDATE SET turn_id = excluded.turn_id, head = excluded.head,
		 commit_oid = excluded.commit_oid, outcome = excluded.outcome, at = excluded.at
		 WHERE excluded.outcome = 'pushed' AND fixes.outcome <> 'pushed'`, fields...)
	if err != nil || n == 0 {
		return err
	}
	return t.countReviewChange(ctx, what, f.PullID)
}

// nextCall is the next position among a pull request's calls, because several may have the same
// time.
const nextCall = `(SELECT count(*) FROM review_calls WHERE pull_id = ?)`

// AddInsertion records that a reviewer was called in, and reports whether that is new. Each
// reviewer is called in once for a pull request.
func (t *Tx) AddInsertion(ctx context.Context, in review.Insertion) (bool, error) {
	what := fmt.Sprintf("call %s in for pull request %d", in.Name, in.PullID)
	n, err := t.exec(ctx, what,
		`INSERT INTO review_calls (pull_id, reviewer, head, by_reviewer, at, position) VALUES (?, ?, '', ?, ?, `+nextCall+`)
		 ON CONFLICT (pull_id, reviewer, head) DO NOTHING`, in.PullID, in.Name, in.By, t.stamp(in.At), in.PullID)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.countReviewChange(ctx, what, in.PullID)
}

func (t *Tx) loadInsertions(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	scan := func(row scanner) (in review.Insertion, err error) {
		return in, row.Scan(&in.PullID, &in.Name, &in.By, timeOf(&in.At))
	}
	found, err := listIn(ctx, t, "list who was called in", scan, `SELECT pull_id, reviewer, by_reviewer, at FROM review_calls `+ofPulls+` AND head = '' ORDER BY at, position`, ids)
	for _, in := range found {
		all[in.PullID].Inserted = append(all[in.PullID].Inserted, in)
	}
	return err
}

// ReviewRequest records that a person was requested to review a head.
type ReviewRequest struct {
	PullID   int64
	Reviewer string
	Head     string
	At       time.Time
}

// AddRequest records a review request, and reports whether it is new.
func (t *Tx) AddRequest(ctx context.Context, r ReviewRequest) (bool, error) {
	n, err := t.exec(ctx, fmt.Sprintf("ask %s for a review of pull request %d", r.Reviewer, r.PullID),
		`INSERT INTO review_calls (pull_id, reviewer, head, by_reviewer, at, position) VALUES (?, ?, ?, '', ?, `+nextCall+`)
		 ON CONFLICT (pull_id, reviewer, head) DO NOTHING`, r.PullID, r.Reviewer, r.Head, t.stamp(r.At), r.PullID)
	return n == 1, err
}

func (t *Tx) loadRequests(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	scan := func(row scanner) (r ReviewRequest, err error) {
		return r, row.Scan(&r.PullID, &r.Reviewer, &r.Head, timeOf(&r.At))
	}
	found, err := listIn(ctx, t, "list who was asked", scan, `SELECT pull_id, reviewer, head, at FROM review_calls `+ofPulls+` AND head <> '' ORDER BY at, position`, ids)
	for _, r := range found {
		all[r.PullID].Requested = append(all[r.PullID].Requested, r)
	}
	return err
}
