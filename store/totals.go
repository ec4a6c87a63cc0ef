package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// By is what sums are kept apart by.
type By string

// What sums can be kept apart by. Not every sum knows all of them.
const (
	ByDay      By = "day"
	ByRepo     By = "repo"
	ByItem     By = "item"
	ByKind     By = "kind" // of a turn; of a failure
	ByAgent    By = "agent"
	ByReviewer By = "reviewer"
	ByOutcome  By = "outcome" // the step in which a turn ended; what a verdict says
)

// TotalKey says what a line is about, as far as the lines were kept apart by it.
type TotalKey struct {
	Day      string // 2006-01-02, UTC
	RepoID   int64
	Repo     work.RepoName
	ItemID   int64
	Number   int // the item's issue
	Title    string
	Kind     string // a work.Kind; of failures a work.ReasonKind
	Agent    string
	Reviewer string // empty: none; of verdicts: people
	Outcome  string
}

// keyColumns are the columns of a source that make a TotalKey, with what stands for each where the
// lines are not kept apart by it.
var keyColumns = []struct {
	by         By
	name, none string
}{
	{ByDay, "day", "''"},
	{ByRepo, "repo_id", "0"},
	{ByItem, "item_id", "0"},
	{ByKind, "kind", "''"},
	{ByAgent, "agent", "''"},
	{ByReviewer, "reviewer", "''"},
	{ByOutcome, "outcome", "''"},
}

// grouped is a query that sums up a source: sums beside the key. An item has one
// repository, so that keeping items apart keeps repositories apart too.
func grouped(source, sums string, by []By) string {
	if slices.Contains(by, ByItem) && !slices.Contains(by, ByRepo) {
		by = append(slices.Clone(by), ByRepo)
	}
	var chosen, group []string
	for _, c := range keyColumns {
		if slices.Contains(by, c.by) {
			chosen, group = append(chosen, "s."+c.name), append(group, "s."+c.name)
		} else {
			chosen = append(chosen, c.none+" AS "+c.name)
		}
	}
	query := `SELECT ` + strings.Join(chosen, ", ") + `, ` + sums + ` FROM (` + source + `) s`
	if len(group) > 0 {
		query += ` GROUP BY ` + strings.Join(group, ", ")
	} else {
		query += ` HAVING count(*) > 0`
	}
	return `SELECT g.*, coalesce(r.name, ''), coalesce(i.number, 0), coalesce(i.title, '') FROM (` + query + `) g
		LEFT JOIN repositories r ON r.id = g.repo_id LEFT JOIN work_items i ON i.id = g.item_id
		ORDER BY g.day, r.name_key, i.number, i.id, g.kind, g.agent, g.reviewer, g.outcome`
}

// listTotals reads the lines of grouped; sums are the places of what is summed up.
func listTotals[T any](ctx context.Context, t *Tx, what, query string, since time.Time, fields func(*T) (*TotalKey, []any)) ([]T, error) {
	return listRows(ctx, t, what, func(row scanner) (line T, err error) {
		var repo string
		k, sums := fields(&line)
		dest := append([]any{&k.Day, &k.RepoID, &k.ItemID, &k.Kind, &k.Agent, &k.Reviewer, &k.Outcome}, sums...)
		if err := row.Scan(append(dest, &repo, &k.Number, &k.Title)...); err != nil || repo == "" {
			return line, err
		}
		k.Repo, err = work.ParseRepoName(repo, "")
		return line, err
	}, query, sql.Named("day", Day(since)), sql.Named("since", millis(since.UTC().Truncate(24*time.Hour))))
}

// Day is the day of a time as totals have it.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// A source is a query of what can be summed up, live rows beside totals. live is the same of
// live rows alone: keepTotals puts it into the totals.

// day is the day of a column of milliseconds.
func day(column string) string { return `date(` + column + ` / 1000, 'unixepoch')` }

const endedTurn = `u.step IN ('done', 'superseded', 'failed', 'cancelled')`

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
		FROM turns u WHERE ` + endedTurn + ` AND ` + where
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
		FROM turns u WHERE ` + endedTurn + ` AND ` + where
}

// What ingest finds answered, after a loss of the database, was answered some time before.
var answered = `e.turn_id IS NOT NULL AND e.processed_at > 0 AND e.outcome = '` + work.OutcomeAnswered + `' AND e.kind IN (` + quotedList(work.EventReview, work.EventIssue, work.EventSummary, work.EventSource) + `)`

func liveAnswerTimes(where string) string {
	return `SELECT ` + day("e.processed_at") + ` AS day, e.repo_id, '` + string(TimeAnswer) + `' AS what, max(e.processed_at - e.created_at, 0) AS ms
		FROM events e WHERE ` + answered + ` AND ` + where
}

// quotedList is some texts as SQL has them in a list.
func quotedList[T ~string](all ...T) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = "'" + strings.ReplaceAll(string(s), "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

var timeSource = inBuckets(liveTurnTimes(`u.ended_at >= @since`)) + ` UNION ALL ` + inBuckets(liveAnswerTimes(`e.processed_at >= @since`)) + `
	UNION ALL SELECT day, repo_id, what, most, n, ms FROM time_totals WHERE day >= @day`

// timeBounds are the upper bounds of the buckets of a histogram, in seconds; what is above the
// last one is in one without a bound, whose number is 0.
var timeBounds = []int{5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400}

// TimeBounds are the upper bounds of the buckets in which times are counted. What took longer
// than the last is in a bucket without a bound.
func TimeBounds() []time.Duration {
	all := make([]time.Duration, len(timeBounds))
	for i, s := range timeBounds {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

func inBuckets(live string) string {
	var cases strings.Builder
	for _, s := range timeBounds {
		fmt.Fprintf(&cases, " WHEN ms <= %d THEN %d", s*1000, s)
	}
	return `SELECT day, repo_id, what, CASE` + cases.String() + ` ELSE 0 END AS most, 1 AS n, ms FROM (` + live + `)`
}

// CostLine is what runs of agents used.
type CostLine struct {
	TotalKey
	Runs         int
	Turns        int // runs that began an attempt: what budgets count as turns
	Unknown      int // runs that used more than is known
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// Sums of tokens are rounded rather than too large for an integer, which SQLite refuses.
const costSums = `coalesce(sum(runs), 0), coalesce(sum(attempts), 0), coalesce(sum(unknown), 0),
	CAST(total(input_tokens) AS INTEGER), CAST(total(output_tokens) AS INTEGER), total(cost_usd)`

// Costs sums up what agents used in runs that began on the day of since or later.
func (t *Tx) Costs(ctx context.Context, since time.Time, by ...By) ([]CostLine, error) {
	return listTotals(ctx, t, "sum up what agents used", grouped(runSource, costSums, by), since, func(l *CostLine) (*TotalKey, []any) {
		return &l.TotalKey, []any{&l.Runs, &l.Turns, &l.Unknown, &l.InputTokens, &l.OutputTokens, &l.CostUSD}
	})
}

// CountLine is how often something happened.
type CountLine struct {
	TotalKey
	Count int
}

func countFields(l *CountLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Count} }

// Turns counts the turns that ended on the day of since or later.
func (t *Tx) Turns(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return listTotals(ctx, t, "count turns", grouped(turnSource, `coalesce(sum(turns), 0)`, by), since, countFields)
}

// Failures counts what went wrong on the day of since or later, by the kind of its reason:
// attempts that failed, and turns that stopped for a person.
func (t *Tx) Failures(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return listTotals(ctx, t, "count failures", grouped(failureSource, `coalesce(sum(n), 0)`, by), since, countFields)
}

// VerdictLine is what reviewers said.
type VerdictLine struct {
	TotalKey
	Count    int
	Findings int
}

// Verdicts counts the verdicts that were given on the day of since or later.
func (t *Tx) Verdicts(ctx context.Context, since time.Time, by ...By) ([]VerdictLine, error) {
	return listTotals(ctx, t, "count verdicts", grouped(verdictSource, `coalesce(sum(verdicts), 0), coalesce(sum(findings), 0)`, by), since,
		func(l *VerdictLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Count, &l.Findings} })
}

// TimeLine is one bucket of a histogram of how long something took.
type TimeLine struct {
	TotalKey
	Most  time.Duration // upper bound; 0: there is none
	Count int
	Sum   time.Duration
}

// unbounded stands for the bucket without a bound in a query, after all others.
const unbounded = `999999999`

// Times counts how long something took that ended on the day of since or later. It gives
// those buckets that hold something, for each key by their bounds.
func (t *Tx) Times(ctx context.Context, what Timed, since time.Time, by ...By) ([]TimeLine, error) {
	source := `SELECT day, repo_id, 0 AS item_id, '' AS kind, '' AS agent, '' AS reviewer, CASE most WHEN 0 THEN ` + unbounded + ` ELSE most END AS outcome, n, ms
		FROM (` + timeSource + `) WHERE what = '` + string(what) + `'`
	lines, err := listTotals(ctx, t, "count times", grouped(source, `s.outcome % `+unbounded+`, sum(n), sum(ms)`, append([]By{ByOutcome}, by...)), since,
		func(l *TimeLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Most, &l.Count, &l.Sum} })
	for i := range lines {
		lines[i].Outcome = ""
		lines[i].Most *= time.Second
		lines[i].Sum *= time.Millisecond
	}
	return lines, err
}

// chosenRow says that a row is one of those that are to be deleted.
const chosenRow = `.id IN (SELECT value FROM json_each(@ids))`

// sum is a count to which more is added, as large as an integer can be at most.
func sum(column, table string) string {
	return column + ` = CAST(CAST(` + table + `.` + column + ` AS REAL) + excluded.` + column + ` AS INTEGER)`
}

// What is put into the totals of rows before they are deleted, by their table.
var keeps = map[string][]string{
	"runs": {`INSERT INTO run_totals (day, item_id, kind, agent, reviewer, repo_id, runs, attempts, unknown, input_tokens, output_tokens, cost_usd)
		SELECT day, item_id, kind, agent, reviewer, repo_id, sum(runs), sum(attempts), sum(unknown),
			CAST(total(input_tokens) AS INTEGER), CAST(total(output_tokens) AS INTEGER), total(cost_usd)
		FROM (` + liveRuns("r"+chosenRow) + `) WHERE true GROUP BY day, item_id, kind, agent, reviewer, repo_id
		ON CONFLICT DO UPDATE SET runs = runs + excluded.runs, attempts = attempts + excluded.attempts, unknown = unknown + excluded.unknown,
			` + sum("input_tokens", "run_totals") + `, ` + sum("output_tokens", "run_totals") + `, cost_usd = cost_usd + excluded.cost_usd`},
	"turns": {
		`INSERT INTO turn_totals (day, item_id, kind, agent, reviewer, outcome, repo_id, turns)
		SELECT day, item_id, kind, agent, reviewer, outcome, repo_id, sum(turns)
		FROM (` + liveTurns("u"+chosenRow) + `) WHERE true GROUP BY day, item_id, kind, agent, reviewer, outcome, repo_id
		ON CONFLICT DO UPDATE SET turns = turns + excluded.turns`,
		keepTimes(liveTurnTimes("u" + chosenRow)),
	},
	"events": {keepTimes(liveAnswerTimes("e" + chosenRow))},
	"reviews": {`INSERT INTO verdict_totals (day, repo_id, reviewer, decision, verdicts, findings)
		SELECT day, repo_id, reviewer, outcome, sum(verdicts), sum(findings)
		FROM (` + liveVerdicts("v"+chosenRow) + `) WHERE true GROUP BY day, repo_id, reviewer, outcome
		ON CONFLICT DO UPDATE SET verdicts = verdicts + excluded.verdicts, findings = findings + excluded.findings`},
}

func keepTimes(live string) string {
	return `INSERT INTO time_totals (day, repo_id, what, most, n, ms)
		SELECT day, repo_id, what, most, sum(n), sum(ms) FROM (` + inBuckets(live) + `) WHERE true GROUP BY day, repo_id, what, most
		ON CONFLICT DO UPDATE SET n = n + excluded.n, ms = ms + excluded.ms`
}

// keepTotals puts rows of a table into the totals, where it has any: they are deleted in the same
// transaction. ids are theirs, as JSON.
func (t *Tx) keepTotals(ctx context.Context, table, ids string) error {
	for _, query := range keeps[table] {
		if _, err := t.exec(ctx, "keep totals of "+table, query, sql.Named("ids", ids)); err != nil {
			return err
		}
	}
	return nil
}

// CountFailure counts that something went wrong with a turn, now and for a reason: an attempt
// failed, or a person must act. Who asks a question, or has news to read, did not fail.
func (t *Tx) CountFailure(ctx context.Context, turnID int64, kind work.ReasonKind) error {
	if kind == "" || kind == work.WhyQuestion || kind == work.WhyNewComments {
		return nil
	}
	_, err := t.exec(ctx, "count a failure",
		`INSERT INTO failure_totals (day, repo_id, kind, n) SELECT `+day("?")+`, repo_id, ?, 1 FROM turns WHERE id = ?
		 ON CONFLICT DO UPDATE SET n = n + 1`, millis(t.now), kind, turnID)
	return err
}
