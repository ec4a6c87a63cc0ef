package reviews

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const findingColumns = `pull_id, id, verdict_id, reviewer, head, cycle, path, line, severity, confidence, comment_id, thread_node, resolved_by, body, answer`

func findingFields(x *review.Finding) []any {
	return []any{
		&x.PullID, &x.ID,
		rows.RefOf(&x.VerdictID),
		&x.Reviewer, &x.Head, &x.Cycle, &x.Path, &x.Line, &x.Severity, &x.Confidence, &x.CommentID, &x.ThreadNode,
		rows.RefOf(&x.ResolvedBy),
		&x.Body, &x.Answer,
	}
}

func scanFinding(row rows.Row) (x review.Finding, err error) {
	return x, row.Scan(findingFields(&x)...)
}

func (t Rows) loadFindings(ctx context.Context, all map[int64]*Stored, ids string) error {
	found, err := rows.List(ctx, t.tx, "list findings", scanFinding, `SELECT `+findingColumns+` FROM findings `+ofPulls+`ORDER BY rowid`, ids)
	for _, x := range found {
		all[x.PullID].Findings = append(all[x.PullID].Findings, x)
	}
	return err
}

// PutFindings stores findings by pull request and id. Of a known one it adds what is
// learned later: its verdict, comment and thread, and the author's answer. What is empty
// takes nothing away, and the same again costs no write. ResolveFindings ends them.
func (t Rows) PutFindings(ctx context.Context, findings []review.Finding) error {
	for _, x := range findings {
		fields := findingFields(&x)
		_, err := t.tx.Exec(ctx, fmt.Sprintf("put finding %s of pull request %d", x.ID, x.PullID),
			`INSERT INTO findings (`+findingColumns+`) VALUES (`+rows.Marks(len(fields))+`)
			 ON CONFLICT (pull_id, id) DO UPDATE SET verdict_id = coalesce(excluded.verdict_id, verdict_id),
			 comment_id = CASE excluded.comment_id WHEN 0 THEN comment_id ELSE excluded.comment_id END,
			 thread_node = CASE excluded.thread_node WHEN '' THEN thread_node ELSE excluded.thread_node END,
			 answer = CASE excluded.answer WHEN '' THEN answer ELSE excluded.answer END
			 WHERE excluded.verdict_id IS NOT NULL AND excluded.verdict_id IS NOT verdict_id OR excluded.comment_id NOT IN (0, comment_id)
			 OR excluded.thread_node NOT IN ('', thread_node) OR excluded.answer NOT IN ('', answer)`, fields...)
		if err != nil {
			return err
		}
	}
	return nil
}

// ResolveFindings records the verdict in which a reviewer says that findings are done.
// The first one to say so stays.
func (t Rows) ResolveFindings(ctx context.Context, pullID, verdictID int64, ids []string) error {
	for _, id := range ids {
		_, err := t.tx.Exec(ctx, fmt.Sprintf("resolve finding %s of pull request %d", id, pullID),
			`UPDATE findings SET resolved_by = ? WHERE pull_id = ? AND id = ? AND resolved_by IS NULL`, verdictID, pullID, id)
		if err != nil {
			return err
		}
	}
	return nil
}
