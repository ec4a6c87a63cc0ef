package store

import (
	"context"
	"time"
)

// Limit is a host's limit that is reached.
type Limit struct {
	Host      string
	Resource  string
	NotBefore time.Time
	Reason    string
}

// SetLimit records that a host's limit is reached.
func (t *Tx) SetLimit(ctx context.Context, l Limit) error {
	_, err := t.exec(ctx, "set the limit of "+l.Host,
		`INSERT INTO limits (host, resource, not_before, reason) VALUES (?, ?, ?, ?)
		 ON CONFLICT (host, resource) DO UPDATE SET not_before = excluded.not_before, reason = excluded.reason`,
		l.Host, l.Resource, millis(l.NotBefore), t.clean(l.Reason))
	return err
}

// ListLimits gives the limits that were reached, those that are over included:
// there is at most one for each resource of a host.
func (t *Tx) ListLimits(ctx context.Context) ([]Limit, error) {
	scan := func(row scanner) (l Limit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, timeOf{&l.NotBefore}, &l.Reason)
	}
	return list(ctx, t, "list limits", scan, `SELECT host, resource, not_before, reason FROM limits ORDER BY host, resource`)
}
