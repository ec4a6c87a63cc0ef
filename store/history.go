package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// HistoryState is the What of a work item's move between states.
const HistoryState = "state"

const historyColumns = `repo_id, item_id, number, at, what, detail`

func historyFields(h *work.History) []any {
	return []any{&h.RepoID, rows.RefOf(&h.ItemID), &h.Number, rows.TimeOf(&h.At), &h.What, &h.Detail}
}

func scanHistory(row rows.Row) (h work.History, err error) { return h, row.Scan(historyFields(&h)...) }

// AddHistory adds a line.
func (t itemRows) AddHistory(ctx context.Context, h work.History) error {
	h.Detail = t.tx.Clean(h.Detail)
	if h.At.IsZero() {
		h.At = t.tx.Now
	}
	_, err := t.tx.Insert(ctx, "add history", "history", historyColumns, historyFields(&h))
	return err
}

// ListHistory gives the last lines of a work item, newest first; limit 0 is all.
func (t itemRows) ListHistory(ctx context.Context, itemID int64, limit int) ([]work.History, error) {
	if limit <= 0 {
		limit = -1
	}
	return rows.List(ctx, t.tx, fmt.Sprintf("list history of item %d", itemID), scanHistory,
		`SELECT `+historyColumns+` FROM history WHERE item_id = ? ORDER BY at DESC, id DESC LIMIT ?`, itemID, limit)
}

// Counts sums up a repository for status and report.
type Counts struct {
	Pending  int                // events that wait for their turn, or are in one
	Outcomes map[string]int     // processed events by outcome
	Items    map[work.State]int // work items by state
	Blocked  int                // live turns that wait for a person
	Usage    work.Usage         // of all turns
}

// Counts counts what a repository has.
func (t itemRows) Counts(ctx context.Context, repoID int64) (c Counts, err error) {
	what := fmt.Sprintf("count repository %d", repoID)
	c = Counts{Outcomes: map[string]int{}, Items: map[work.State]int{}}
	c.Pending, err = rows.Get(ctx, t.tx, what, rows.ScanCount, `SELECT count(*) FROM events WHERE repo_id = ? AND processed_at = 0`, repoID)
	if err == nil {
		err = tally(ctx, t.tx, what, c.Outcomes, `SELECT outcome, count(*) FROM events WHERE repo_id = ? AND processed_at > 0 GROUP BY outcome`, repoID)
	}
	if err == nil {
		err = tally(ctx, t.tx, what, c.Items, `SELECT state, count(*) FROM work_items WHERE repo_id = ? GROUP BY state`, repoID)
	}
	if err == nil {
		c.Blocked, err = rows.Get(ctx, t.tx, what, rows.ScanCount, `SELECT count(*) FROM turns WHERE repo_id = ? AND blocked = 1 AND `+unfinished, repoID)
	}
	if err == nil {
		c.Usage, err = rows.Get(ctx, t.tx, what, scanUsage,
			`SELECT COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(cost_usd), 0.0) FROM turns WHERE repo_id = ?`, repoID)
	}
	return c, err
}

func scanUsage(row rows.Row) (u work.Usage, err error) {
	return u, row.Scan(&u.InputTokens, &u.OutputTokens, &u.CostUSD)
}

func tally[K ~string](ctx context.Context, t *rows.Tx, what string, into map[K]int, query string, args ...any) error {
	_, err := rows.List(ctx, t, what, func(row rows.Row) (K, error) {
		var key K
		var n int
		err := row.Scan(&key, &n)
		into[key] = n
		return key, err
	}, query, args...)
	return err
}
