package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// CountPass counts a pass of this machine by its outcome.
func (t *Tx) CountPass(ctx context.Context, outcome work.PassOutcome, took time.Duration) error {
	return t.write(ctx, "count a pass", `INSERT INTO counters (machine, host, api, outcome, n, ms) VALUES (?, '', '', ?, 1, ?)
		ON CONFLICT (machine, host, api, outcome) DO UPDATE SET n = counters.n + 1, ms = counters.ms + excluded.ms`, t.machine, outcome, took.Milliseconds())
}

// ListPasses returns the number of this machine's counted passes with each outcome.
func (t *Tx) ListPasses(ctx context.Context) ([]work.PassCount, error) {
	scan := func(row scanner) (p work.PassCount, err error) { return p, row.Scan(&p.Outcome, &p.Count) }
	return listRows(ctx, t, "list passes", scan, `SELECT outcome, n FROM counters WHERE machine = ? AND host = '' ORDER BY outcome`, t.machine)
}

// CountRequests adds to this machine's counted requests.
func (t *Tx) CountRequests(ctx context.Context, some []work.RequestCount) error {
	for _, r := range some {
		err := t.write(ctx, "count requests", `INSERT INTO counters (machine, host, api, outcome, n, ms) VALUES (?, ?, ?, ?, ?, 0)
			ON CONFLICT (machine, host, api, outcome) DO UPDATE SET n = counters.n + excluded.n`, t.machine, r.Host, r.API, r.Status, r.Count)
		if err != nil {
			return err
		}
	}
	return nil
}

// ListRequests returns this machine's counted requests.
func (t *Tx) ListRequests(ctx context.Context) ([]work.RequestCount, error) {
	scan := func(row scanner) (r work.RequestCount, err error) {
		return r, row.Scan(&r.Host, &r.API, &r.Status, &r.Count)
	}
	return listRows(ctx, t, "list requests", scan, `SELECT host, api, outcome, n FROM counters WHERE machine = ? AND host <> '' ORDER BY host, api, outcome`, t.machine)
}

// PutRateLimits stores the rate limits that hosts reported of this machine's account, unless a newer
// report is stored.
func (t *Tx) PutRateLimits(ctx context.Context, some []work.RateLimit) error {
	for _, l := range some {
		err := t.write(ctx, "store a rate limit", `INSERT INTO hosts (host, account, resource, remaining, most, reset_at, at) VALUES (?, `+thisAccount+`, ?, ?, ?, ?, ?)
			ON CONFLICT (host, account, resource) DO UPDATE SET remaining = excluded.remaining, most = excluded.most, reset_at = excluded.reset_at, at = excluded.at
			WHERE excluded.at >= hosts.at`, l.Host, t.machine, l.Host, l.Resource, l.Remaining, l.Most, millis(l.ResetAt), millis(l.At))
		if err != nil {
			return err
		}
	}
	return nil
}

// ListRateLimits returns the last reported rate limits of this machine's account on each host.
func (t *Tx) ListRateLimits(ctx context.Context) ([]work.RateLimit, error) {
	scan := func(row scanner) (l work.RateLimit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, &l.Remaining, &l.Most, timeOf(&l.ResetAt), timeOf(&l.At))
	}
	return listRows(ctx, t, "list rate limits", scan, `SELECT h.host, h.resource, h.remaining, h.most, h.reset_at, h.at FROM hosts h LEFT JOIN clocks c ON c.machine = ? AND c.host = h.host
		WHERE h.at > 0 AND h.account = coalesce(c.account, 0) ORDER BY h.host, h.resource`, t.machine)
}

// CountItems returns the number of work items of each repository in each state.
func (t *Tx) CountItems(ctx context.Context) ([]work.ItemCount, error) {
	scan := func(row scanner) (c work.ItemCount, err error) { return c, row.Scan(&c.RepoID, &c.State, &c.Count) }
	return listRows(ctx, t, "count items", scan, `SELECT repo_id, state, count(*) FROM work_items GROUP BY repo_id, state ORDER BY repo_id, state`)
}
