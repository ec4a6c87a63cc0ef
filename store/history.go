package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// historyState is the What of an item's change of state.
const historyState = "state"

const (
	historyColumns = `repo_id, item_id, number, at, what, detail`
	logColumns     = historyColumns + `, key` // in the review log, each entry has a key
)

func historyFields(h *work.History) []any {
	return []any{&h.RepoID, refOf(&h.ItemID), &h.Number, timeOf(&h.At), &h.What, &h.Detail}
}

func scanHistory(row scanner) (h work.History, err error) { return h, row.Scan(historyFields(&h)...) }

// AddHistory adds a line.
func (t *Tx) AddHistory(ctx context.Context, h work.History) error {
	h.Detail = t.clean(h.Detail)
	if h.At.IsZero() {
		h.At = t.now
	}
	fields := historyFields(&h)
	return t.write(ctx, "add history", `INSERT INTO history (`+historyColumns+`) VALUES (`+placeholders(len(fields))+`)`, fields...)
}

// ListHistory returns the last lines of a work item, newest first; limit 0: all.
func (t *Tx) ListHistory(ctx context.Context, itemID int64, limit int) ([]work.History, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	return listRows(ctx, t, fmt.Sprintf("list history of item %d", itemID), scanHistory,
		`SELECT `+historyColumns+` FROM history WHERE item_id = ? AND key IS NULL ORDER BY at DESC, id DESC LIMIT ?`, itemID, limit)
}

// Counts are a repository's numbers for status.
type Counts struct {
	Outcomes map[string]int     // processed events by outcome
	Items    map[work.State]int // work items by state
}

// Counts counts a repository's events and items.
func (t *Tx) Counts(ctx context.Context, repoID int64) (c Counts, err error) {
	what := fmt.Sprintf("count repository %d", repoID)
	c = Counts{Outcomes: map[string]int{}, Items: map[work.State]int{}}
	err = tally(ctx, t, what, c.Outcomes, `SELECT outcome, count(*) FROM events WHERE repo_id = ? AND processed_at > 0 GROUP BY outcome`, repoID)
	if err == nil {
		err = tally(ctx, t, what, c.Items, `SELECT state, count(*) FROM work_items WHERE repo_id = ? GROUP BY state`, repoID)
	}
	return c, err
}

func scanUsage(row scanner) (u work.Usage, err error) {
	return u, row.Scan(&u.InputTokens, &u.OutputTokens, &u.CostUSD)
}

func tally[K ~string](ctx context.Context, t *Tx, what string, into map[K]int, query string, args ...any) error {
	_, err := listRows(ctx, t, what, func(row scanner) (K, error) {
		var key K
		var n int
		err := row.Scan(&key, &n)
		into[key] = n
		return key, err
	}, query, args...)
	return err
}

// ReviewLog is one event in the reviews of a pull request, for people and programs.
type ReviewLog struct {
	RepoID int64
	ItemID int64 // 0: it belongs to no item
	Number int   // of the pull request
	Key    string
	At     time.Time
	What   string
	Data   string // JSON
}

func logFields(e *ReviewLog) []any {
	return []any{&e.RepoID, refOf(&e.ItemID), &e.Number, timeOf(&e.At), &e.What, &e.Data, &e.Key}
}

// AddReviewLog adds a log entry. It returns false if the repository already has one with the key.
func (t *Tx) AddReviewLog(ctx context.Context, e ReviewLog) (bool, error) {
	if e.At.IsZero() {
		e.At = t.now
	}
	e.Data = t.clean(e.Data)
	_, err := t.insertNew(ctx, "log "+e.Key, "history", logColumns, logFields(&e), "repo_id, key")
	if errors.Is(err, ErrStale) {
		return false, nil
	}
	return err == nil, err
}
