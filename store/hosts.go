package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// thisAccount is the SQL for the account that gh was logged in with on a host when this machine
// asked it last; 0: not known. Its arguments are the machine and the host.
const thisAccount = `coalesce((SELECT account FROM clocks c WHERE c.machine = ? AND c.host = ?), 0)`

// SetLimit records that a rate limit of this machine's account on a host was reached.
func (t *Tx) SetLimit(ctx context.Context, l work.Limit) error {
	return t.write(ctx, "set the limit of "+l.Host,
		`INSERT INTO hosts (host, account, resource, not_before, reason) VALUES (?, `+thisAccount+`, ?, ?, ?)
		 ON CONFLICT (host, account, resource) DO UPDATE SET not_before = excluded.not_before, reason = excluded.reason`,
		l.Host, t.machine, l.Host, l.Resource, millis(l.NotBefore), t.clean(l.Reason))
}

// ListLimits returns the rate limits that were reached, including past ones: those of this machine's
// account on each host, and those of an account that was not known.
func (t *Tx) ListLimits(ctx context.Context) ([]work.Limit, error) {
	scan := func(row scanner) (l work.Limit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, timeOf(&l.NotBefore), &l.Reason)
	}
	return listRows(ctx, t, "list limits", scan, `SELECT h.host, h.resource, h.not_before, h.reason
		FROM hosts h LEFT JOIN clocks c ON c.machine = ? AND c.host = h.host
		WHERE h.not_before > 0 AND h.account IN (0, coalesce(c.account, 0)) ORDER BY h.host, h.resource, h.account`, t.machine)
}

// SetClock records how far this machine's clock is ahead of a host's, and the account that gh is
// logged in with there; 0: not known. Unchanged values are not written.
func (t *Tx) SetClock(ctx context.Context, host string, ahead time.Duration, account int64) error {
	return t.write(ctx, "set clock of "+host,
		`INSERT INTO clocks (machine, host, ahead, account) VALUES (?, ?, ?, ?)
		 ON CONFLICT (machine, host) DO UPDATE SET ahead = excluded.ahead, account = CASE excluded.account WHEN 0 THEN clocks.account ELSE excluded.account END
		 WHERE clocks.ahead <> excluded.ahead OR excluded.account <> 0 AND clocks.account <> excluded.account`, t.machine, host, ahead.Milliseconds(), account)
}

// ListClocks returns how far a machine's clock was ahead of each host's.
func (t *Tx) ListClocks(ctx context.Context, machine string) (map[string]time.Duration, error) {
	ahead := map[string]time.Duration{}
	scan := func(row scanner) (string, error) {
		var host string
		var ms int64
		err := row.Scan(&host, &ms)
		ahead[host] = time.Duration(ms) * time.Millisecond
		return host, err
	}
	_, err := listRows(ctx, t, "list clocks", scan, `SELECT host, ahead FROM clocks WHERE machine = ? ORDER BY host`, machine)
	return ahead, err
}

// AccountOn returns the account that gh was logged in with on a host when this machine asked it last; 0:
// not known.
func (t *Tx) AccountOn(ctx context.Context, host string) (int64, error) {
	return getRow(ctx, t, "get our account on "+host, scanID, `SELECT `+thisAccount, t.machine, host)
}
