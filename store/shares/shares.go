// Package shares has the rows about which of several machines works on a repository.
package shares

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are those of one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows of a transaction.
func In(tx *rows.Tx) Rows { return Rows{tx} }

// ListShares gives what is known of each repository, by its row's id.
func (t Rows) ListShares(ctx context.Context) (map[int64]work.Share, error) {
	type share struct {
		id int64
		work.Share
	}
	scan := func(row rows.Row) (s share, err error) {
		s.Stored = true
		return s, row.Scan(&s.id, &s.Shard, &s.Theirs, &s.OID, rows.TimeOf(&s.Since), rows.TimeOf(&s.Until))
	}
	all, err := rows.List(ctx, t.tx, "list shares", scan, `SELECT repo_id, shard, theirs, oid, since, until FROM shares ORDER BY repo_id`)
	known := map[int64]work.Share{}
	for _, s := range all {
		known[s.id] = s.Share
	}
	return known, err
}

// GetShare gives what is known of one; false: nothing.
func (t Rows) GetShare(ctx context.Context, repoID int64) (s work.Share, known bool, err error) {
	scan := func(row rows.Row) (s work.Share, err error) {
		s.Stored = true
		return s, row.Scan(&s.Shard, &s.Theirs, &s.OID, rows.TimeOf(&s.Since), rows.TimeOf(&s.Until))
	}
	all, err := rows.List(ctx, t.tx, "read a share", scan, `SELECT shard, theirs, oid, since, until FROM shares WHERE repo_id = ?`, repoID)
	if err != nil || len(all) == 0 {
		return s, false, err
	}
	return all[0], true, nil
}

// PutShare stores what is known of a repository.
func (t Rows) PutShare(ctx context.Context, repoID int64, s work.Share) error {
	_, err := t.tx.Exec(ctx, "store a share", `INSERT INTO shares (repo_id, shard, theirs, oid, since, until) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (repo_id) DO UPDATE SET shard = excluded.shard, theirs = excluded.theirs, oid = excluded.oid, since = excluded.since, until = excluded.until`,
		repoID, s.Shard, s.Theirs, s.OID, rows.Millis(s.Since), rows.Millis(s.Until))
	return err
}

// LoseShares has this machine hold no repository any more.
func (t Rows) LoseShares(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, "let go of the shares", `UPDATE shares SET oid = '', since = 0, until = 0`)
	return err
}

// DropShares forgets all: one machine has the repositories.
func (t Rows) DropShares(ctx context.Context) error {
	_, err := t.tx.Exec(ctx, "forget the shares", `DELETE FROM shares`)
	return err
}
