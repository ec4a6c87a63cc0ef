package store

import (
	"context"
	"time"
)

// SetClock records how far this machine's clock is ahead of a host's. What is
// known already costs no write.
func (t repoRows) SetClock(ctx context.Context, host string, ahead time.Duration) error {
	_, err := t.exec(ctx, "set clock of "+host,
		`INSERT INTO clocks (host, ahead) VALUES (?, ?)
		 ON CONFLICT (host) DO UPDATE SET ahead = excluded.ahead WHERE ahead <> excluded.ahead`, host, ahead.Milliseconds())
	return err
}

// ListClocks says how far this machine's clock was ahead of each host's.
func (t repoRows) ListClocks(ctx context.Context) (map[string]time.Duration, error) {
	ahead := map[string]time.Duration{}
	scan := func(row scanner) (string, error) {
		var host string
		var ms int64
		err := row.Scan(&host, &ms)
		ahead[host] = time.Duration(ms) * time.Millisecond
		return host, err
	}
	_, err := list(ctx, t.transaction, "list clocks", scan, `SELECT host, ahead FROM clocks ORDER BY host`)
	return ahead, err
}
