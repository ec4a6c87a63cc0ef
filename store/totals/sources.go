package totals

import (
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A source is a query of what can be summed up, live rows beside totals. live is the same of
// live rows alone: Keep puts it into the totals.

// day is the day of a column of milliseconds.
func day(column string) string { return `date(` + column + ` / 1000, 'unixepoch')` }

const ended = `u.step IN ('done', 'superseded', 'failed', 'cancelled')`

func liveRuns(where string) string {
	return `SELECT ` + day("r.began_at") + ` AS day, u.repo_id, u.item_id, u.kind, r.agent, u.reviewer, '' AS outcome,
		1 AS runs, r.attempt AS attempts, r.unknown, r.input_tokens, r.output_tokens, r.cost_usd
		FROM runs r JOIN turns u ON u.id = r.turn_id WHERE ` + where
}

var runSource = liveRuns(`r.began_at >= @since`) + `
	UNION ALL SELECT day, repo_id, item_id, kind, agent, reviewer, '', runs, attempts, unknown, input_tokens, output_tokens, cost_usd
	FROM run_totals WHERE day >= @day`

func liveTurns(where string) string {
	return `SELECT ` + day("u.ended_at") + ` AS day, u.repo_id, u.item_id, u.kind, u.agent, u.reviewer, u.step AS outcome, 1 AS turns
		FROM turns u WHERE ` + ended + ` AND ` + where
}

var turnSource = liveTurns(`u.ended_at >= @since`) + `
	UNION ALL SELECT day, repo_id, item_id, kind, agent, reviewer, outcome, turns FROM turn_totals WHERE day >= @day`

// A verdict that was taken over to a head with the base merged in is not given again.
func liveVerdicts(where string) string {
	return `SELECT ` + day("v.at") + ` AS day, p.repo_id, 0 AS item_id, '' AS kind, '' AS agent, v.reviewer, v.decision AS outcome,
		1 AS verdicts, v.findings
		FROM reviews v JOIN pull_requests p ON p.id = v.pull_id WHERE v.kept_from = '' AND ` + where
}

var verdictSource = liveVerdicts(`v.at >= @since`) + `
	UNION ALL SELECT day, repo_id, 0, '', '', reviewer, decision, verdicts, findings FROM verdict_totals WHERE day >= @day`

const failureSource = `SELECT day, repo_id, 0 AS item_id, kind, '' AS agent, '' AS reviewer, '' AS outcome, n FROM failure_totals WHERE day >= @day`

// Timed is what takes a time that is counted.
type Timed string

// The times that are counted.
const (
	TimeTurn   Timed = "turn"   // from a turn's claim to its end, waiting included
	TimeAnswer Timed = "answer" // from a person's comment to its answer
)

func liveTurnTimes(where string) string {
	return `SELECT ` + day("u.ended_at") + ` AS day, u.repo_id, '` + string(TimeTurn) + `' AS what, max(u.ended_at - u.claimed_at, 0) AS ms
		FROM turns u WHERE ` + ended + ` AND ` + where
}

// What ingest finds answered, after a loss of the database, was answered some time before.
var answered = `e.turn_id IS NOT NULL AND e.processed_at > 0 AND e.outcome = '` + work.OutcomeAnswered + `' AND e.kind IN (` + texts(work.EventReview, work.EventIssue, work.EventSummary, work.EventSource) + `)`

func liveAnswerTimes(where string) string {
	return `SELECT ` + day("e.processed_at") + ` AS day, e.repo_id, '` + string(TimeAnswer) + `' AS what, max(e.processed_at - e.created_at, 0) AS ms
		FROM events e WHERE ` + answered + ` AND ` + where
}

// texts are some texts as SQL has them in a list.
func texts[T ~string](all ...T) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = "'" + strings.ReplaceAll(string(s), "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

var timeSource = inBuckets(liveTurnTimes(`u.ended_at >= @since`)) + ` UNION ALL ` + inBuckets(liveAnswerTimes(`e.processed_at >= @since`)) + `
	UNION ALL SELECT day, repo_id, what, most, n, ms FROM time_totals WHERE day >= @day`

// bounds are the upper bounds of the buckets of a histogram, in seconds; what is above the
// last one is in one without a bound, whose number is 0.
var bounds = []int{5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400}

// Bounds are the upper bounds of the buckets in which times are counted. What took longer
// than the last is in a bucket without a bound.
func Bounds() []time.Duration {
	all := make([]time.Duration, len(bounds))
	for i, s := range bounds {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

func inBuckets(live string) string {
	var cases strings.Builder
	for _, s := range bounds {
		fmt.Fprintf(&cases, " WHEN ms <= %d THEN %d", s*1000, s)
	}
	return `SELECT day, repo_id, what, CASE` + cases.String() + ` ELSE 0 END AS most, 1 AS n, ms FROM (` + live + `)`
}
