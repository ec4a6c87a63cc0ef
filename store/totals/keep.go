package totals

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// chosen says that a row is one of those that are to be deleted.
const chosen = `.id IN (SELECT value FROM json_each(@ids))`

// sum is a count to which more is added, as large as an integer can be at most.
func sum(column, table string) string {
	return column + ` = CAST(CAST(` + table + `.` + column + ` AS REAL) + excluded.` + column + ` AS INTEGER)`
}

// What is put into the totals of rows before they are deleted, by their table.
var keeps = map[string][]string{
	"runs": {`INSERT INTO run_totals (day, item_id, kind, agent, reviewer, repo_id, runs, attempts, unknown, input_tokens, output_tokens, cost_usd)
		SELECT day, item_id, kind, agent, reviewer, repo_id, sum(runs), sum(attempts), sum(unknown),
			CAST(total(input_tokens) AS INTEGER), CAST(total(output_tokens) AS INTEGER), total(cost_usd)
		FROM (` + liveRuns("r"+chosen) + `) WHERE true GROUP BY day, item_id, kind, agent, reviewer, repo_id
		ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, attempts = attempts + excluded.attempts, unknown = unknown + excluded.unknown,
			` + sum("input_tokens", "run_totals") + `, ` + sum("output_tokens", "run_totals") + `, cost_usd = cost_usd + excluded.cost_usd`},
	"turns": {
		`INSERT INTO turn_totals (day, item_id, kind, agent, reviewer, outcome, repo_id, turns)
		SELECT day, item_id, kind, agent, reviewer, outcome, repo_id, sum(turns)
		FROM (` + liveTurns("u"+chosen) + `) WHERE true GROUP BY day, item_id, kind, agent, reviewer, outcome, repo_id
		ON CONFLICT DO UPDATE SET turns = turns + excluded.turns`,
		keepTimes(liveTurnTimes("u" + chosen)),
	},
	"events": {keepTimes(liveAnswerTimes("e" + chosen))},
	"reviews": {`INSERT INTO verdict_totals (day, repo_id, reviewer, decision, verdicts, findings)
		SELECT day, repo_id, reviewer, outcome, sum(verdicts), sum(findings)
		FROM (` + liveVerdicts("v"+chosen) + `) WHERE true GROUP BY day, repo_id, reviewer, outcome
		ON CONFLICT DO UPDATE SET verdicts = verdicts + excluded.verdicts, findings = findings + excluded.findings`},
}

func keepTimes(live string) string {
	return `INSERT INTO time_totals (day, repo_id, what, most, n, ms)
		SELECT day, repo_id, what, most, sum(n), sum(ms) FROM (` + inBuckets(live) + `) WHERE true GROUP BY day, repo_id, what, most
		ON CONFLICT DO UPDATE SET n = n + excluded.n, ms = ms + excluded.ms`
}

// Keep puts rows of a table into the totals, where it has any: they are deleted in the same
// transaction. ids are theirs, as JSON.
func (t Rows) Keep(ctx context.Context, table, ids string) error {
	for _, query := range keeps[table] {
		if _, err := t.tx.Exec(ctx, "keep totals of "+table, query, rows.Named("ids", ids)); err != nil {
			return err
		}
	}
	return nil
}

// CountFailure counts that something went wrong with a turn, now and for a reason: an attempt
// failed, or a person must act. Who asks a question, or has news to read, did not fail.
func (t Rows) CountFailure(ctx context.Context, turnID int64, kind work.ReasonKind) error {
	if kind == "" || kind == work.WhyQuestion || kind == work.WhyNewComments {
		return nil
	}
	_, err := t.tx.Exec(ctx, "count a failure",
		`INSERT INTO failure_totals (day, repo_id, kind, n) SELECT `+day("?")+`, repo_id, ?, 1 FROM turns WHERE id = ?
		 ON CONFLICT DO UPDATE SET n = n + 1`, rows.Millis(t.tx.Now), kind, turnID)
	return err
}
