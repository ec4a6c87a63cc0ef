package store

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ListShares gives what is known of each repository, by its row's id.
func (t *Tx) ListShares(ctx context.Context) (map[int64]work.Share, error) {
	type share struct {
		id int64
		work.Share
	}
	scan := func(row scanner) (s share, err error) {
		s.Stored = true
		return s, row.Scan(&s.id, &s.Shard, &s.Theirs, &s.OID, timeOf(&s.Since), timeOf(&s.Until))
	}
	all, err := listRows(ctx, t, "list shares", scan, `SELECT repo_id, shard, theirs, oid, since, until FROM shares ORDER BY repo_id`)
	known := map[int64]work.Share{}
	for _, s := range all {
		known[s.id] = s.Share
	}
	return known, err
}

// GetShare gives what is known of one; false: nothing.
func (t *Tx) GetShare(ctx context.Context, repoID int64) (s work.Share, known bool, err error) {
	scan := func(row scanner) (s work.Share, err error) {
		s.Stored = true
		return s, row.Scan(&s.Shard, &s.Theirs, &s.OID, timeOf(&s.Since), timeOf(&s.Until))
	}
	all, err := listRows(ctx, t, "read a share", scan, `SELECT shard, theirs, oid, since, until FROM shares WHERE repo_id = ?`, repoID)
	if err != nil || len(all) == 0 {
		return s, false, err
	}
	return all[0], true, nil
}

// PutShare stores what is known of a repository.
func (t *Tx) PutShare(ctx context.Context, repoID int64, s work.Share) error {
	_, err := t.exec(ctx, "store a share", `INSERT INTO shares (repo_id, shard, theirs, oid, since, until) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (repo_id) DO UPDATE SET shard = excluded.shard, theirs = excluded.theirs, oid = excluded.oid, since = excluded.since, until = excluded.until`,
		repoID, s.Shard, s.Theirs, s.OID, millis(s.Since), millis(s.Until))
	return err
}

// LoseShares has this machine hold no repository any more.
func (t *Tx) LoseShares(ctx context.Context) error {
	_, err := t.exec(ctx, "let go of the shares", `UPDATE shares SET oid = '', since = 0, until = 0`)
	return err
}

// DropShares forgets all: one machine has the repositories.
func (t *Tx) DropShares(ctx context.Context) error {
	_, err := t.exec(ctx, "forget the shares", `DELETE FROM shares`)
	return err
}
