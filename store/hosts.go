package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// SetLimit records that a host's rate limit was reached.
func (t *Tx) SetLimit(ctx context.Context, l work.Limit) error {
	_, err := t.exec(ctx, "set the limit of "+l.Host,
		`INSERT INTO hosts (host, resource, not_before, reason) VALUES (?, ?, ?, ?)
		 ON CONFLICT (host, resource) DO UPDATE SET not_before = excluded.not_before, reason = excluded.reason`,
		l.Host, l.Resource, millis(l.NotBefore), t.clean(l.Reason))
	return err
}

// ListLimits returns the rate limits that were reached, including past ones. There is at most one
// for each resource of a host.
func (t *Tx) ListLimits(ctx context.Context) ([]work.Limit, error) {
	scan := func(row scanner) (l work.Limit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, timeOf(&l.NotBefore), &l.Reason)
	}
	return listRows(ctx, t, "list limits", scan, `SELECT host, resource, not_before, reason FROM hosts WHERE not_before > 0 ORDER BY host, resource`)
}

// SetClock records how far this machine's clock is ahead of a host's. An unchanged value is not
// written.
func (t *Tx) SetClock(ctx context.Context, host string, ahead time.Duration) error {
	_, err := t.exec(ctx, "set clock of "+host,
		`INSERT INTO hosts (host, resource, ahead) VALUES (?, '', ?)
		 ON CONFLICT (host, resource) DO UPDATE SET ahead = excluded.ahead WHERE hosts.ahead <> excluded.ahead`, host, ahead.Milliseconds())
	return err
}

// ListClocks returns how far this machine's clock was ahead of each host's.
func (t *Tx) ListClocks(ctx context.Context) (map[string]time.Duration, error) {
	ahead := map[string]time.Duration{}
	scan := func(row scanner) (string, error) {
		var host string
		var ms int64
		err := row.Scan(&host, &ms)
		ahead[host] = time.Duration(ms) * time.Millisecond
		return host, err
	}
	_, err := listRows(ctx, t, "list clocks", scan, `SELECT host, ahead FROM hosts WHERE resource = '' ORDER BY host`)
	return ahead, err
}
