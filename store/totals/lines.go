package totals

import (
	"context"
	"time"
)

// CostLine is what runs of agents used.
type CostLine struct {
	Key
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
func (t Rows) Costs(ctx context.Context, since time.Time, by ...By) ([]CostLine, error) {
	return list(ctx, t, "sum up what agents used", grouped(runSource, costSums, by), since, func(l *CostLine) (*Key, []any) {
		return &l.Key, []any{&l.Runs, &l.Turns, &l.Unknown, &l.InputTokens, &l.OutputTokens, &l.CostUSD}
	})
}

// CountLine is how often something happened.
type CountLine struct {
	Key
	Count int
}

func countFields(l *CountLine) (*Key, []any) { return &l.Key, []any{&l.Count} }

// Turns counts the turns that ended on the day of since or later.
func (t Rows) Turns(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return list(ctx, t, "count turns", grouped(turnSource, `coalesce(sum(turns), 0)`, by), since, countFields)
}

// Failures counts what went wrong on the day of since or later, by the kind of its reason:
// attempts that failed, and turns that stopped for a person.
func (t Rows) Failures(ctx context.Context, since time.Time, by ...By) ([]CountLine, error) {
	return list(ctx, t, "count failures", grouped(failureSource, `coalesce(sum(n), 0)`, by), since, countFields)
}

// VerdictLine is what reviewers said.
type VerdictLine struct {
	Key
	Count    int
	Findings int
}

// Verdicts counts the verdicts that were given on the day of since or later.
func (t Rows) Verdicts(ctx context.Context, since time.Time, by ...By) ([]VerdictLine, error) {
	return list(ctx, t, "count verdicts", grouped(verdictSource, `coalesce(sum(verdicts), 0), coalesce(sum(findings), 0)`, by), since,
		func(l *VerdictLine) (*Key, []any) { return &l.Key, []any{&l.Count, &l.Findings} })
}

// TimeLine is one bucket of a histogram of how long something took.
type TimeLine struct {
	Key
	Most  time.Duration // upper bound; 0: there is none
	Count int
	Sum   time.Duration
}

// unbounded stands for the bucket without a bound in a query, after all others.
const unbounded = `999999999`

// Times counts how long something took that ended on the day of since or later. It gives
// those buckets that hold something, for each key by their bounds.
func (t Rows) Times(ctx context.Context, what Timed, since time.Time, by ...By) ([]TimeLine, error) {
	source := `SELECT day, repo_id, 0 AS item_id, '' AS kind, '' AS agent, '' AS reviewer, CASE most WHEN 0 THEN ` + unbounded + ` ELSE most END AS outcome, n, ms
		FROM (` + timeSource + `) WHERE what = '` + string(what) + `'`
	lines, err := list(ctx, t, "count times", grouped(source, `s.outcome % `+unbounded+`, sum(n), sum(ms)`, append([]By{ByOutcome}, by...)), since,
		func(l *TimeLine) (*Key, []any) { return &l.Key, []any{&l.Most, &l.Count, &l.Sum} })
	for i := range lines {
		lines[i].Outcome = ""
		lines[i].Most *= time.Second
		lines[i].Sum *= time.Millisecond
	}
	return lines, err
}
