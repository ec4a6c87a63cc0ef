package passes

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/counts"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// CountPass counts a pass by what became of it.
func (t Rows) CountPass(ctx context.Context, outcome work.PassOutcome, took time.Duration) error {
	_, err := t.tx.Exec(ctx, "count a pass", `INSERT INTO pass_totals (outcome, n, ms) VALUES (?, 1, ?)
		ON CONFLICT (outcome) DO UPDATE SET n = n + 1, ms = ms + excluded.ms`, outcome, took.Milliseconds())
	return err
}

// ListPasses says how many passes came to each outcome, as far as they were counted.
func (t Rows) ListPasses(ctx context.Context) ([]counts.Passes, error) {
	scan := func(row rows.Row) (p counts.Passes, err error) { return p, row.Scan(&p.Outcome, &p.Count) }
	return rows.List(ctx, t.tx, "list passes", scan, `SELECT outcome, n FROM pass_totals ORDER BY outcome`)
}

// CountRequests adds requests to those that were counted.
func (t Rows) CountRequests(ctx context.Context, some []counts.Requests) error {
	for _, r := range some {
		_, err := t.tx.Exec(ctx, "count requests", `INSERT INTO request_totals (host, api, status, n) VALUES (?, ?, ?, ?)
			ON CONFLICT (host, api, status) DO UPDATE SET n = n + excluded.n`, r.Host, r.API, r.Status, r.Count)
		if err != nil {
			return err
		}
	}
	return nil
}

// ListRequests gives the requests that were counted.
func (t Rows) ListRequests(ctx context.Context) ([]counts.Requests, error) {
	scan := func(row rows.Row) (r counts.Requests, err error) {
		return r, row.Scan(&r.Host, &r.API, &r.Status, &r.Count)
	}
	return rows.List(ctx, t.tx, "list requests", scan, `SELECT host, api, status, n FROM request_totals ORDER BY host, api, status`)
}

// PutRateLimits stores what hosts said of their limits, unless something newer is known.
func (t Rows) PutRateLimits(ctx context.Context, some []counts.RateLimit) error {
	for _, l := range some {
		_, err := t.tx.Exec(ctx, "store a rate limit", `INSERT INTO rate_limits (host, resource, remaining, most, reset_at, at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (host, resource) DO UPDATE SET remaining = excluded.remaining, most = excluded.most, reset_at = excluded.reset_at, at = excluded.at
			WHERE excluded.at >= rate_limits.at`, l.Host, l.Resource, l.Remaining, l.Most, rows.Millis(l.ResetAt), rows.Millis(l.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// ListRateLimits gives what hosts said last of their limits.
func (t Rows) ListRateLimits(ctx context.Context) ([]counts.RateLimit, error) {
	scan := func(row rows.Row) (l counts.RateLimit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, &l.Remaining, &l.Most, rows.TimeOf(&l.ResetAt), rows.TimeOf(&l.At))
	}
	return rows.List(ctx, t.tx, "list rate limits", scan, `SELECT host, resource, remaining, most, reset_at, at FROM rate_limits ORDER BY host, resource`)
}

// CountItems says how many work items of each repository are in each state.
func (t Rows) CountItems(ctx context.Context) ([]counts.ItemCount, error) {
	scan := func(row rows.Row) (c counts.ItemCount, err error) { return c, row.Scan(&c.RepoID, &c.State, &c.Count) }
	return rows.List(ctx, t.tx, "count items", scan, `SELECT repo_id, state, count(*) FROM work_items GROUP BY repo_id, state ORDER BY repo_id, state`)
}
