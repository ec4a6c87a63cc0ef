// Package store is the program's memory: SQLite, its schema and every statement sent to it.
//
// A DB opens transactions; everything else is a method of Tx, so callers decide which writes belong
// together. State changes by compare-and-set: if the row is no longer as expected, the writer gets
// ErrStale and nothing changes. Several processes may have the same file open.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Errors that callers distinguish.
var (
	// ErrNotFound says that a row that must exist does not.
	ErrNotFound = errors.New("not found")
	// ErrStale says that a compare-and-set failed: the row is not in the state from which the
	// caller wanted to move it.
	ErrStale = errors.New("stale")
	// ErrReadOnly says that a write was tried on a read-only database or transaction.
	ErrReadOnly = errors.New("read-only")
)

// DB is an open state database.
type DB struct {
	*File
	clock    sync.Mutex // guards now
	now      func() time.Time
	redact   func(string) string
	writer   chan struct{} // one writer at a time within the process
	runTwice bool
	readOnly bool
	claimed  bool
	damaged  atomic.Pointer[DamagedError]
}

// GoBy sets the clock of later transactions.
func (d *DB) GoBy(now func() time.Time) {
	d.clock.Lock()
	defer d.clock.Unlock()
	d.now = now
}

func (d *DB) time() time.Time {
	d.clock.Lock()
	defer d.clock.Unlock()
	return d.now()
}

// Update runs fn in a write transaction and commits it if fn returns nil. When Update returns nil,
// the writes survive a power loss. fn must do no other I/O, because other passes wait for it, and
// must give the same result if it runs again after a rollback, see Options.RunTwice.
func (d *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if d.readOnly {
		return fmt.Errorf("write to %s: %w", d.Path, ErrReadOnly)
	}
	select {
	case d.writer <- struct{}{}:
		defer func() { <-d.writer }()
	case <-ctx.Done():
		return fmt.Errorf("write to %s: %w", d.Path, ctx.Err())
	}
	if err := d.InPlace(); err != nil {
		return err
	}
	if d.runTwice {
		if err := d.runOnce(ctx, func(tx *Tx) error { return cmp.Or(fn(tx), errRunAgain) }); !errors.Is(err, errRunAgain) {
			return err
		}
	}
	return d.runOnce(ctx, fn)
}

// errRunAgain rolls the first of two runs back.
var errRunAgain = errors.New("this run is rolled back")

func (d *DB) runOnce(ctx context.Context, fn func(*Tx) error) error {
	return d.run(ctx, &sql.TxOptions{}, &Tx{now: d.time(), redact: d.redact, claims: claimsOf(ctx), claimedOnly: d.claimed}, fn)
}

// View runs fn in a read transaction. It sees one state of the database, does not wait for writers
// and does not block them.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return d.run(ctx, &sql.TxOptions{ReadOnly: true}, &Tx{readOnly: true}, fn)
}

func (d *DB) run(ctx context.Context, opt *sql.TxOptions, t *Tx, fn func(*Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, opt)
	if err != nil {
		return fmt.Errorf("begin on %s: %w", d.Path, d.explain(interrupted(ctx, err)))
	}
	defer tx.Rollback()
	t.sql = tx
	err = fn(t)
	if err = cmp.Or(err, t.taken); err != nil {
		return d.explain(interrupted(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit to %s: %w", d.Path, d.explain(interrupted(ctx, err)))
	}
	return nil
}

// explain explains an error of a transaction, and remembers that the file is damaged.
func (d *DB) explain(err error) error {
	err = explainFile(d.Path, err)
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		d.damaged.CompareAndSwap(nil, damaged)
	}
	return err
}

// Damage returns the first error which says that the file is damaged; nil: there was none. Parts of
// a pass that go on after an error do not hide it.
func (d *DB) Damage() error {
	if damaged := d.damaged.Load(); damaged != nil {
		return damaged
	}
	return nil
}
