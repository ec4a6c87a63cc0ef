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

// By is a dimension by which sums are grouped.
type By string

// The dimensions. Not every sum has all of them.
const (
	ByDay      By = "day"
	ByRepo     By = "repo"
	ByItem     By = "item"
	ByKind     By = "kind" // of a turn or of a failure
	ByAgent    By = "agent"
	ByReviewer By = "reviewer"
	ByMachine  By = "machine" // on which a run, a turn's last step or a failure was
	ByOutcome  By = "outcome" // the step in which a turn ended, or a verdict's decision
)

// TotalKey identifies a line. Only the dimensions by which lines are grouped are set.
type TotalKey struct {
	Day      string // 2006-01-02, UTC
	RepoID   int64
	Repo     work.RepoName
	ItemID   int64
	Number   int // the item's issue
	Title    string
	Pull     int    // number of the item's pull request; 0: it has none
	Kind     string // a work.Kind; for failures a work.ReasonKind
	Agent    string
	Reviewer string // empty: none; for verdicts: people
	Machine  string // empty: not known
	Outcome  string
}

// keyColumns are the columns of a source that make a TotalKey, with the value each has if lines are
// not grouped by it.
var keyColumns = []struct {
	by         By
	name, none string
}{
	{ByDay, "day", "0"},
	{ByRepo, "repo_id", "0"},
	{ByItem, "item_id", "0"},
	{ByKind, "kind", "''"},
	{ByAgent, "agent", "''"},
	{ByReviewer, "reviewer", "''"},
	{ByMachine, "machine", "''"},
	{ByOutcome, "outcome", "''"},
	{byMost, "most", "0"},
}

// byMost groups by the buckets of a histogram.
const byMost By = "most"

// grouped returns a query that groups a source by the dimensions and adds sums. An item has one
// repository, so grouping by item also groups by repository.
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
	return `SELECT g.*, coalesce(r.name, ''), coalesce(i.number, 0), coalesce(i.title, ''),
		coalesce((SELECT max(p.number) FROM pull_requests p WHERE p.item_id = i.id), 0) FROM (` + query + `) g
		LEFT JOIN repositories r ON r.id = g.repo_id LEFT JOIN work_items i ON i.id = g.item_id
		ORDER BY g.day, r.name_key NULLS FIRST, i.number NULLS FIRST, i.id, g.kind, g.agent, g.reviewer, g.machine, g.outcome, CASE g.most WHEN 0 THEN 1 ELSE 0 END, g.most`
}

// listTotals reads the lines of grouped. fields returns a line's key and the destinations of its
// sums.
func listTotals[T any](ctx context.Context, t *Tx, what, query string, since time.Time, fields func(*T) (*TotalKey, []any)) ([]T, error) {
	return listRows(ctx, t, what, func(row scanner) (line T, err error) {
		var repo string
		var day, most int64
		k, sums := fields(&line)
		dest := append([]any{&day, &k.RepoID, &k.ItemID, &k.Kind, &k.Agent, &k.Reviewer, &k.Machine, &k.Outcome, &most}, sums...)
		if err := row.Scan(append(dest, &repo, &k.Number, &k.Title, &k.Pull)...); err != nil {
			return line, err
		}
		if day > 0 {
			k.Day = fromMillis(day * dayMillis).Format(time.DateOnly)
		}
		if repo != "" {
			k.Repo, err = work.ParseRepoName(repo, "")
		}
		return line, err
	}, query, sql.Named("day", dayOf(since)), sql.Named("since", max(dayOf(since), 0)*dayMillis))
}

// dayMillis is a day in milliseconds, the unit of stored times. Days are counted from 1970, in UTC.
const dayMillis = 24 * 60 * 60 * 1000

func dayOf(t time.Time) int64 { return millis(t) / dayMillis }

// A source is a query for rows to sum up: live rows and rows of totals. All sources have the same
// columns.
const sourceColumns = `day, repo_id, item_id, kind, agent, reviewer, machine, outcome, most, n, attempts, unknown_tokens, unknown_cost, input_tokens, output_tokens, cost_usd, findings, ms`

// totalOf is what a row of totals counts.
type totalOf string

const (
	ofRuns        totalOf = "run"     // by the day they began
	ofTurns       totalOf = "turn"    // by the day they ended
	ofVerdicts    totalOf = "verdict" // by the day they were given
	ofFailures    totalOf = "failure" // by the day they happened
	ofTurnTimes   totalOf = "turn_time"
	ofAnswerTimes totalOf = "answer_time"
)

// stored selects the rows of totals of one kind. No fact is in both totals and a live row.
func stored(what totalOf) string {
	return `SELECT ` + sourceColumns + ` FROM totals WHERE what = '` + string(what) + `' AND day >= @day`
}

func source(live func(where string) string, column string, what totalOf) string {
	return live(column+` >= @since`) + ` UNION ALL ` + stored(what)
}

const endedTurn = `u.step IN ('done', 'superseded', 'failed', 'cancelled')`

// day is the SQL for the day of a time column.
func day(column string) string { return fmt.Sprintf(`%s / %d AS day`, column, dayMillis) }

func liveRuns(where string) string {
	return `SELECT ` + day("r.began_at") + `, u.repo_id, u.item_id, u.kind, r.agent, u.reviewer, r.machine, '' AS outcome, 0 AS most,
		1 AS n, r.attempt AS attempts, 1 - r.tokens_known AS unknown_tokens, 1 - r.cost_known AS unknown_cost, r.input_tokens, r.output_tokens, r.cost_usd, 0 AS findings, 0 AS ms
		FROM runs r JOIN turns u ON u.id = r.turn_id WHERE ` + where
}

func liveTurns(where string) string {
	return `SELECT ` + day("u.ended_at") + `, u.repo_id, u.item_id, u.kind, u.agent, u.reviewer, u.machine, u.step AS outcome, 0 AS most,
		1 AS n, 0 AS attempts, 0 AS unknown_tokens, 0 AS unknown_cost, 0 AS input_tokens, 0 AS output_tokens, 0.0 AS cost_usd, 0 AS findings, 0 AS ms
		FROM turns u WHERE ` + endedTurn + ` AND ` + where
}

// A verdict that was kept for a head that only merged the base is not counted again.
func liveVerdicts(where string) string {
	return `SELECT ` + day("v.at") + `, p.repo_id, 0 AS item_id, '' AS kind, '' AS agent, v.reviewer, '' AS machine, v.decision AS outcome, 0 AS most,
		1 AS n, 0 AS attempts, 0 AS unknown_tokens, 0 AS unknown_cost, 0 AS input_tokens, 0 AS output_tokens, 0.0 AS cost_usd, v.findings, 0 AS ms
		FROM reviews v JOIN pull_requests p ON p.id = v.pull_id WHERE v.kept_from = '' AND ` + where
}

func liveTurnTimes(where string) string {
	return liveTimes("turns u", "u", "u.machine", "claimed_at", "ended_at", endedTurn+` AND `+where)
}

func liveAnswerTimes(where string) string {
	// The index of processed events begins with the repository.
	return liveTimes("events e", "e", "coalesce((SELECT u.machine FROM turns u WHERE u.id = e.turn_id), '')", "created_at", "processed_at", `e.repo_id IN (SELECT id FROM repositories) AND `+answered+` AND `+where)
}

// liveTimes counts durations in the buckets of a histogram.
func liveTimes(table, alias, machine, from, to, where string) string {
	var buckets strings.Builder
	for _, s := range timeBounds {
		fmt.Fprintf(&buckets, " WHEN ms <= %d THEN %d", s*1000, s)
	}
	return `SELECT day, repo_id, 0 AS item_id, '' AS kind, '' AS agent, '' AS reviewer, machine, '' AS outcome, CASE` + buckets.String() + ` ELSE 0 END AS most,
		1 AS n, 0 AS attempts, 0 AS unknown_tokens, 0 AS unknown_cost, 0 AS input_tokens, 0 AS output_tokens, 0.0 AS cost_usd, 0 AS findings, ms
		FROM (SELECT ` + day(alias+"."+to) + `, ` + alias + `.repo_id, ` + machine + ` AS machine, CASE WHEN ` + alias + `.` + to + ` > ` + alias + `.` + from + ` THEN ` + alias + `.` + to + ` - ` + alias + `.` + from + ` ELSE 0 END AS ms
			FROM ` + table + ` WHERE ` + where + `) took`
}

// Timed is a kind of duration that is counted.
type Timed string

// The kinds of duration.
const (
	TimeTurn   Timed = "turn"   // from a turn's claim to its end, waiting included
	TimeAnswer Timed = "answer" // from a person's comment to its answer
)

// answered excludes events that ingest found answered after a loss of the database: they were
// answered earlier.
var answered = `e.turn_id IS NOT NULL AND e.processed_at > 0 AND e.outcome = '` + work.OutcomeAnswered + `' AND e.kind IN (` + quotedList(work.EventReview, work.EventIssue, work.EventSummary, work.EventSource) + `)`

// quotedList formats values as an SQL list.
func quotedList[T ~string](all ...T) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = "'" + strings.ReplaceAll(string(s), "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

// timeBounds are the upper bounds of a histogram's buckets, in seconds. Longer durations are in
// bucket 0, which has no bound.
var timeBounds = []int{5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400}

// TimeBounds returns the upper bounds of the buckets. Longer durations are in a bucket without a
// bound.
func TimeBounds() []time.Duration {
	all := make([]time.Duration, len(timeBounds))
	for i, s := range timeBounds {
		all[i] = time.Duration(s) * time.Second
	}
	return all
}

// CostLine is the usage of agent runs.
type CostLine struct {
	TotalKey
	Runs  int
	Turns int // runs that began an attempt; budgets count these as turns
	work.UsageSum
}

// sumTokens sums in floating point: an integer sum that overflows is an error, so large sums are
// rounded instead.
func sumTokens(column string) string {
	return atMost(`coalesce(sum(CAST(` + column + ` AS DOUBLE PRECISION)), 0)`)
}

// atMost makes a floating point number an integer, the largest one if it is larger.
func atMost(number string) string {
	return `CASE WHEN ` + number + ` >= 9223372036854775807.0 THEN 9223372036854775807 ELSE CAST(` + number + ` AS BIGINT) END`
}

// Costs sums the usage of agent runs that began on or after the day of since.
func (t *Tx) Costs(ctx context.Context, since time.Time, by ...By) ([]CostLine, error) {
	sums := `coalesce(sum(s.n), 0), coalesce(sum(s.attempts), 0), coalesce(sum(s.unknown_tokens), 0), coalesce(sum(s.unknown_cost), 0), ` +
		sumTokens("s.input_tokens") + `, ` + sumTokens("s.output_tokens") + `, coalesce(sum(s.cost_usd), 0.0)`
	return listTotals(ctx, t, "sum up what agents used", grouped(source(liveRuns, "r.began_at", ofRuns), sums, by), since, func(l *CostLine) (*TotalKey, []any) {
		return &l.TotalKey, []any{&l.Runs, &l.Turns, &l.UnknownTokens, &l.UnknownCost, &l.InputTokens, &l.OutputTokens, &l.CostUSD}
	})
}

// CountLine is a count.
type CountLine struct {
	TotalKey
	Count int
}

func countFields(l *CountLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Count} }

const countSum = `coalesce(sum(s.n), 0)`

// Turns counts the turns that ended on or after the day of since.
func (t *Tx) Turns(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return listTotals(ctx, t, "count turns", grouped(source(liveTurns, "u.ended_at", ofTurns), countSum, by), since, countFields)
}

// Failures counts failures on or after the day of since, by the kind of their reason: failed
// attempts, and turns that stopped for a person.
func (t *Tx) Failures(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return listTotals(ctx, t, "count failures", grouped(stored(ofFailures), countSum, by), since, countFields)
}

// VerdictLine counts verdicts and their findings.
type VerdictLine struct {
	TotalKey
	Count    int
	Findings int
}

// Verdicts counts the verdicts given on or after the day of since.
func (t *Tx) Verdicts(ctx context.Context, since time.Time, by ...By) ([]VerdictLine, error) {
	query := grouped(source(liveVerdicts, "v.at", ofVerdicts), countSum+`, coalesce(sum(s.findings), 0)`, by)
	return listTotals(ctx, t, "count verdicts", query, since, func(l *VerdictLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Count, &l.Findings} })
}

// TimeLine is one bucket of a histogram of durations.
type TimeLine struct {
	TotalKey
	Most  time.Duration // upper bound; 0: none
	Count int
	Sum   time.Duration
}

// Times counts durations that ended on or after the day of since. It returns only buckets with a
// count, sorted by key and bound.
func (t *Tx) Times(ctx context.Context, what Timed, since time.Time, by ...By) ([]TimeLine, error) {
	from := source(liveTurnTimes, "u.ended_at", ofTurnTimes)
	if what == TimeAnswer {
		from = source(liveAnswerTimes, "e.processed_at", ofAnswerTimes)
	}
	lines, err := listTotals(ctx, t, "count times", grouped(from, `s.most AS bound, sum(s.n), sum(s.ms)`, append([]By{byMost}, by...)), since,
		func(l *TimeLine) (*TotalKey, []any) { return &l.TotalKey, []any{&l.Most, &l.Count, &l.Sum} })
	for i := range lines {
		lines[i].Most *= time.Second
		lines[i].Sum *= time.Millisecond
	}
	return lines, err
}

const totalKey = `what, day, repo_id, item_id, kind, agent, reviewer, machine, outcome, most`

// keep returns the query that adds rows of a table to the totals. The ids of the rows are its
// arguments. The same transaction deletes the rows.
func keep(what totalOf, live func(where string) string, alias string) string {
	more := func(column string) string { return column + ` = totals.` + column + ` + excluded.` + column }
	tokens := func(column string) string {
		return column + ` = ` + atMost(`CAST(totals.`+column+` AS DOUBLE PRECISION) + excluded.`+column)
	}
	return `INSERT INTO totals (what, ` + sourceColumns + `)
		SELECT '` + string(what) + `', day, repo_id, item_id, kind, agent, reviewer, machine, outcome, most, sum(n), sum(attempts), sum(unknown_tokens), sum(unknown_cost), ` +
		sumTokens("input_tokens") + `, ` + sumTokens("output_tokens") + `, sum(cost_usd), sum(findings), sum(ms)
		FROM (` + live(alias+`.id IN (%s)`) + `) l WHERE true GROUP BY day, repo_id, item_id, kind, agent, reviewer, machine, outcome, most
		ON CONFLICT (` + totalKey + `) DO UPDATE SET ` + strings.Join([]string{
		more("n"), more("attempts"), more("unknown_tokens"), more("unknown_cost"), tokens("input_tokens"), tokens("output_tokens"), more("cost_usd"), more("findings"), more("ms"),
	}, ", ")
}

// keeps are the queries that add rows to the totals before they are deleted, by table.
var keeps = map[string][]string{
	"runs":    {keep(ofRuns, liveRuns, "r")},
	"turns":   {keep(ofTurns, liveTurns, "u"), keep(ofTurnTimes, liveTurnTimes, "u")},
	"events":  {keep(ofAnswerTimes, liveAnswerTimes, "e")},
	"reviews": {keep(ofVerdicts, liveVerdicts, "v")},
}

// keepTotals adds rows of a table to the totals, if the table has any.
func (t *Tx) keepTotals(ctx context.Context, table string, ids []int64) error {
	for _, query := range keeps[table] {
		if _, err := execIn(ctx, t, "keep totals of "+table, query, ids); err != nil {
			return err
		}
	}
	return nil
}

// CountFailure counts a failure of a turn: an attempt failed, or a person must act. A question and
// new comments are no failures.
func (t *Tx) CountFailure(ctx context.Context, turnID int64, kind work.ReasonKind) error {
	if kind == "" || kind == work.WhyQuestion || kind == work.WhyNewComments {
		return nil
	}
	return t.write(ctx, "count a failure",
		`INSERT INTO totals (what, `+sourceColumns+`)
		 SELECT '`+string(ofFailures)+`', ?, repo_id, 0, ?, '', '', ?, '', 0, 1, 0, 0, 0, 0, 0, 0.0, 0, 0 FROM turns WHERE id = ?
		 ON CONFLICT (`+totalKey+`) DO UPDATE SET n = totals.n + 1`, dayOf(t.now), kind, t.machine, turnID)
}
