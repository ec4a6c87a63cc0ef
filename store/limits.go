package store

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// SetLimit records that a host's limit is reached.
func (t repoRows) SetLimit(ctx context.Context, l work.Limit) error {
	_, err := t.exec(ctx, "set the limit of "+l.Host,
		`INSERT INTO limits (host, resource, not_before, reason) VALUES (?, ?, ?, ?)
		 ON CONFLICT (host, resource) DO UPDATE SET not_before = excluded.not_before, reason = excluded.reason`,
		l.Host, l.Resource, millis(l.NotBefore), t.clean(l.Reason))
	return err
}

// ListLimits gives the limits that were reached, those that are over included:
// there is at most one for each resource of a host.
func (t repoRows) ListLimits(ctx context.Context) ([]work.Limit, error) {
	scan := func(row scanner) (l work.Limit, err error) {
		return l, row.Scan(&l.Host, &l.Resource, timeOf{&l.NotBefore}, &l.Reason)
	}
	return list(ctx, t.transaction, "list limits", scan, `SELECT host, resource, not_before, reason FROM limits ORDER BY host, resource`)
}
