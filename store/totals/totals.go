// Package totals sums up what was done: what agents used, turns, verdicts, failures, how long
// things took. Rows count until Prune deletes them; by then they are in tables of totals, in
// the same transaction. Whoever reads gets the sum of both, by whole days in UTC.
package totals

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the totals, in one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the totals as a transaction sees them.
func In(tx *rows.Tx) Rows { return Rows{tx} }

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

// Key says what a line is about, as far as the lines were kept apart by it.
type Key struct {
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

// columns are the columns of a source that make a Key, with what stands for each where the
// lines are not kept apart by it.
var columns = []struct {
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
	for _, c := range columns {
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

// list reads the lines of grouped; sums are the places of what is summed up.
func list[T any](ctx context.Context, t Rows, what, query string, since time.Time, fields func(*T) (*Key, []any)) ([]T, error) {
	return rows.List(ctx, t.tx, what, func(row rows.Row) (line T, err error) {
		var repo string
		k, sums := fields(&line)
		dest := append([]any{&k.Day, &k.RepoID, &k.ItemID, &k.Kind, &k.Agent, &k.Reviewer, &k.Outcome}, sums...)
		if err := row.Scan(append(dest, &repo, &k.Number, &k.Title)...); err != nil || repo == "" {
			return line, err
		}
		k.Repo, err = work.ParseRepoName(repo, "")
		return line, err
	}, query, rows.Named("day", Day(since)), rows.Named("since", rows.Millis(since.UTC().Truncate(24*time.Hour))))
}

// Day is the day of a time as totals have it.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
