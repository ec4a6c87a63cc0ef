package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"time"
)

// Stranger is a session of the server that holds locks of the shared database and is of no machine.
// What it holds, no pass gets.
type Stranger struct {
	PID   int64 // of the server's process
	Role  string
	Since time.Time // when a pass saw it first
}

// strangerAfter is how long a stranger holds locks before people are told: three times as long as the
// server takes to end the session of a machine that is gone.
const strangerAfter = 3 * unanswered

// stranger selects the role of the session that holds a lock, if it is of no machine: all machines have
// one role, and their sessions our name.
const stranger = `SELECT coalesce(a.usename, 'of nobody') FROM pg_stat_activity a WHERE a.pid = pg_locks.pid
	AND (a.usename IS DISTINCT FROM current_user OR a.application_name NOT LIKE 'gh mergexo%')`

// setStrangers stores the strangers that hold locks now, by the ids of their processes.
func (t *Tx) setStrangers(ctx context.Context, now map[int64]string) error {
	was, err := t.listStrangers(ctx)
	if err != nil {
		return err
	}
	for _, s := range was {
		if now[s.PID] == s.Role {
			continue
		}
		if err := t.write(ctx, "forget a session", `DELETE FROM strangers WHERE pid = ?`, s.PID); err != nil {
			return err
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(now)) {
		err := t.write(ctx, "store a session that is of no machine", `INSERT INTO strangers (pid, role, since) VALUES (?, ?, ?) ON CONFLICT (pid) DO NOTHING`, pid, now[pid], t.stamp(t.now))
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) listStrangers(ctx context.Context) ([]Stranger, error) {
	scan := func(row scanner) (s Stranger, err error) { return s, row.Scan(&s.PID, &s.Role, timeOf(&s.Since)) }
	return listRows(ctx, t, "list sessions that are of no machine", scan, `SELECT pid, role, since FROM strangers ORDER BY since, pid`)
}

// ListStrangers returns the strangers of whom people are told.
func (t *Tx) ListStrangers(ctx context.Context, now time.Time) ([]Stranger, error) {
	all, err := t.listStrangers(ctx)
	return slices.DeleteFunc(all, func(s Stranger) bool { return now.Sub(s.Since) < strangerAfter }), err
}

// lockKey returns the text from which the keys of locks are made; "" before the first one is taken.
func (t *Tx) lockKey(ctx context.Context) (string, error) {
	key, _, err := findRow(ctx, t, "read the key of locks", func(row scanner) (key string, err error) { return key, row.Scan(&key) }, `SELECT key FROM lock_key WHERE id = 1`)
	return key, err
}

// lockKey is that of a transaction, made by whoever needs it first.
func (d *DB) lockKey(ctx context.Context) (string, error) {
	if known := d.lockSecret.Load(); known != nil {
		return *known, nil
	}
	// No transaction: each pass asks, and waits for one answer of the server instead of three.
	var key string
	err := d.SQL.QueryRowContext(ctx, `SELECT key FROM lock_key WHERE id = 1`).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		made := NewEpoch()
		err = d.Update(ctx, func(tx *Tx) (err error) {
			if err = tx.write(ctx, "make the key of locks", `INSERT INTO lock_key (id, key) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`, made); err == nil {
				key, err = tx.lockKey(ctx)
			}
			return err
		})
	}
	if err == nil {
		d.lockSecret.Store(&key)
	}
	return key, err
}
