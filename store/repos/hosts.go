package repos

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// SetLimit records that a host's limit is reached.
func (t Rows) SetLimit(ctx context.Context, l work.Limit) error {
	_, err := t.tx.Exec(ctx, "set the limit of "+l.Host,
		`INSERT INTO limits (host, resource, not_before, reason) VALUES (?, ?, ?, ?)
		 ON CONFLICT (host, resource) DO UPDATE SET not_before = excluded.not_before, reason = excluded.reason`,
		l.Host, l.Resource, rows.Millis(l.NotBefore), t.tx.Clean(l.Reason))
	return err
}

// ListLimits gives the limits that were reached, those that are over included:
// there is at most one for each resource of a host.
func (t Rows) ListLimits(ctx context.Context) ([]work.Limit, error) {
	scan := func(row rows.Row) (l work.Limit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, rows.TimeOf(&l.NotBefore), &l.Reason)
	}
	return rows.List(ctx, t.tx, "list limits", scan, `SELECT host, resource, not_before, reason FROM limits ORDER BY host, resource`)
}

// SetClock records how far this machine's clock is ahead of a host's. What is
// known already costs no write.
func (t Rows) SetClock(ctx context.Context, host string, ahead time.Duration) error {
	_, err := t.tx.Exec(ctx, "set clock of "+host,
		`INSERT INTO clocks (host, ahead) VALUES (?, ?)
		 ON CONFLICT (host) DO UPDATE SET ahead = excluded.ahead WHERE ahead <> excluded.ahead`, host, ahead.Milliseconds())
	return err
}

// ListClocks says how far this machine's clock was ahead of each host's.
func (t Rows) ListClocks(ctx context.Context) (map[string]time.Duration, error) {
	ahead := map[string]time.Duration{}
	scan := func(row rows.Row) (string, error) {
		var host string
		var ms int64
		err := row.Scan(&host, &ms)
		ahead[host] = time.Duration(ms) * time.Millisecond
		return host, err
	}
	_, err := rows.List(ctx, t.tx, "list clocks", scan, `SELECT host, ahead FROM clocks ORDER BY host`)
	return ahead, err
}
