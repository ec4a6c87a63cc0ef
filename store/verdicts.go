package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const verdictColumns = `pull_id, review_id, comment_id, reviewer, human, head, merge_base, kept_from, epoch, cycle, decision, validity,
	by_id, by_login, by_bot, turn_id, called_in, highest, findings, unread, at, url, body`

func verdictFields(v *review.Verdict) []any {
	return []any{
		&v.PullID, &v.ReviewID, &v.CommentID, &v.Reviewer, &v.Human, &v.Head, &v.MergeBase, &v.KeptFrom, &v.Epoch, &v.Cycle, &v.Decision, &v.Validity,
		&v.By.ID, &v.By.Login, &v.By.Bot, &v.TurnID,
		listOf(&v.CalledIn),
		&v.Highest, &v.Count,
		listOf(&v.Unread),
		timeOf(&v.At),
		&v.URL, &v.Body,
	}
}

func scanVerdict(row scanner) (v review.Verdict, err error) {
	return v, row.Scan(append([]any{&v.ID}, verdictFields(&v)...)...)
}

const selectVerdict = `SELECT id, ` + verdictColumns + ` FROM reviews `

func (t *Tx) loadVerdicts(ctx context.Context, all map[int64]*Reviews, ids []int64) error {
	found, err := listIn(ctx, t, "list verdicts", scanVerdict, selectVerdict+ofPulls+` ORDER BY at, id`, ids)
	for _, v := range found {
		all[v.PullID].Verdicts = append(all[v.PullID].Verdicts, v)
	}
	return err
}

// AddVerdict adds a verdict, and returns its id and whether it was new. A known verdict is
// unchanged and its id returned: one of the same review or command about the same head, or of the
// same agent about the same commits. An empty Validity is stored as Counts.
func (t *Tx) AddVerdict(ctx context.Context, v review.Verdict) (int64, bool, error) {
	if v.At.IsZero() {
		v.At = t.now
	}
	if v.Validity == "" {
		v.Validity = review.Counts
	}
	what := fmt.Sprintf("add a verdict of %q about %s", v.Reviewer, v.Head)
	id, known, err := findRow(ctx, t, what, scanID,
		`SELECT id FROM reviews WHERE pull_id = ?1 AND head = ?2
		 AND (review_id = ?3 AND comment_id = ?4 AND (?3 <> 0 OR ?4 <> 0) OR human = 0 AND kept_from = '' AND ?5 = 0 AND ?6 = '' AND reviewer = ?7 AND merge_base = ?8)
		 ORDER BY CASE WHEN review_id = ?3 AND comment_id = ?4 THEN 0 ELSE 1 END, id LIMIT 1`,
		v.PullID, v.Head, v.ReviewID, v.CommentID, v.Human, v.KeptFrom, v.Reviewer, v.MergeBase)
	if known || err != nil {
		return id, false, err
	}
	id, err = t.insert(ctx, what, "reviews", verdictColumns, verdictFields(&v))
	if err != nil {
		return 0, false, err
	}
	return id, true, t.countReviewChange(ctx, what, v.PullID)
}

// MarkVerdict changes a verdict's validity, and reports whether that changed anything. A verdict
// whose validity is TakenBack keeps it.
func (t *Tx) MarkVerdict(ctx context.Context, id int64, as review.Validity) (bool, error) {
	what := fmt.Sprintf("mark verdict %d as %s", id, as)
	pullID, err := getRow(ctx, t, what, scanID, `SELECT pull_id FROM reviews WHERE id = ?`, id)
	if err != nil {
		return false, err
	}
	n, err := t.exec(ctx, what, `UPDATE reviews SET validity = ?2 WHERE id = ?1 AND validity NOT IN (?2, ?3)`, id, as, review.TakenBack)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.countReviewChange(ctx, what, pullID)
}

// MoveVerdicts gives verdicts and merge approvals of a head other merge bases. from "" are those
// given before the merge bases were computed; since excludes those that may be about an earlier
// base.
func (t *Tx) MoveVerdicts(ctx context.Context, pull work.PullRequest, from string, since time.Time) error {
	what := fmt.Sprintf("move the verdicts about pull request %d", pull.ID)
	moved := int64(0)
	for _, table := range []string{"reviews", "merge_words"} {
		n, err := t.exec(ctx, what, `UPDATE `+table+` SET merge_base = ?4 WHERE pull_id = ?1 AND head = ?2 AND merge_base = ?3 AND at > ?5`,
			pull.ID, pull.HeadOID, from, pull.MergeBase, millis(since))
		if err != nil {
			return err
		}
		moved += n
	}
	if moved == 0 {
		return nil
	}
	return t.countReviewChange(ctx, what, pull.ID)
}

// otherBase stands for the merge base of an approval that no merge base matches.
const otherBase = "-"

// OutdateApprovals ends what people said about a pull request, in reviews and by `/mergexo merge`, up to
// the second in which its base was last changed, whether or not it is the same again: nobody can tell
// which commits they saw.
func (t *Tx) OutdateApprovals(ctx context.Context, pull work.PullRequest) error {
	if pull.BaseChanged.IsZero() {
		return nil
	}
	what, until := fmt.Sprintf("end the approvals of pull request %d", pull.ID), millis(pull.BaseChanged.Truncate(time.Second).Add(time.Second))
	reviews, err := t.exec(ctx, what, `UPDATE reviews SET validity = ?3 WHERE pull_id = ?1 AND human = 1 AND validity = ?4 AND at < ?2`,
		pull.ID, until, review.BaseMoved, review.Counts)
	if err != nil {
		return err
	}
	words, err := t.exec(ctx, what, `UPDATE merge_words SET merge_base = ?3 WHERE pull_id = ?1 AND merge_base <> ?3 AND at < ?2`, pull.ID, until, otherBase)
	if err != nil || reviews+words == 0 {
		return err
	}
	return t.countReviewChange(ctx, what, pull.ID)
}
