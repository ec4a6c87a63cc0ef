// Package store is the program's memory: a database, its schema and every statement sent to it. One
// machine has a SQLite file, several machines share a PostgreSQL database.
//
// A DB opens transactions; everything else is a method of Tx, so callers decide which writes belong
// together. State changes by compare-and-set: if the row is no longer as expected, the writer gets
// ErrStale and nothing changes. Several processes may have the same database open.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
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
	// ErrOlder says that the database needs a migration, which a reader never does.
	ErrOlder = errors.New("written by an older gh mergexo")
	// errReplaced says that the database file was deleted or replaced while it was open. Further
	// writes would be lost.
	errReplaced = errors.New("the database file was deleted or replaced while it was in use")
	// errNewer says that a newer version of the program wrote the database.
	errNewer = errors.New("written by a newer gh mergexo")
	// errTooOld says that the database is older than the first schema that can be migrated.
	errTooOld = errors.New("written by a gh mergexo from before its first release")
	// errUnreleased says that the database has other columns than its version means: a migration was
	// edited while it was developed.
	errUnreleased = errors.New("written by a gh mergexo between two releases")
)

// DB is an open state database.
type DB struct {
	SQL        *sql.DB
	Path       string // of the file; of PostgreSQL the URL without a password
	engine     engine
	clock      sync.Mutex // guards now
	now        func() time.Time
	redact     func(string) string
	machine    string
	shared     bool          // for tests
	writer     chan struct{} // one writer at a time within the process
	runTwice   bool
	readOnly   bool
	claimed    bool
	damaged    atomic.Pointer[DamagedError]
	lockSecret atomic.Pointer[string] // see lockKey; nil: not read
	dialed     chan dialed            // the connection for a session; nil: none is being opened
}

// Close ends the connections.
func (d *DB) Close() error {
	d.hangUp()
	if err := d.SQL.Close(); err != nil {
		return fmt.Errorf("close %s: %w", d.Path, err)
	}
	return nil
}

// Shared reports whether other machines may have the same database open.
func (d *DB) Shared() bool { return d.shared || d.engine.shared() }

// InPlace fails if what is written would be lost, because the SQLite file was deleted or replaced.
func (d *DB) InPlace() error { return d.engine.inPlace() }

// Check has the engine check what it stores. Damage of a SQLite file is a *DamagedError.
func (d *DB) Check(ctx context.Context) error {
	return d.runOnce(ctx, *d.reader(), func(tx *Tx) error { return d.engine.check(ctx, tx) })
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
		if err := d.runUntilAlone(ctx, func(tx *Tx) error { return cmp.Or(fn(tx), errRunAgain) }); !errors.Is(err, errRunAgain) {
			return err
		}
	}
	return d.runUntilAlone(ctx, fn)
}

// errRunAgain rolls the first of two runs back.
var errRunAgain = errors.New("this run is rolled back")

// tries is how often a transaction is run that fails because of others; their waits add up to about
// busyTimeout.
const tries = 12

// runUntilAlone runs a write transaction again if it failed only because of another one.
func (d *DB) runUntilAlone(ctx context.Context, fn func(*Tx) error) error {
	for try := 1; ; try++ {
		err := d.runOnce(ctx, Tx{now: d.time(), moment: &time.Time{}, rehearsed: d.runTwice, redact: d.redact, claims: claimsOf(ctx), claimedOnly: d.claimed, machine: d.machine, statement: d.engine.statement, locks: d.engine.locks()}, fn)
		if err == nil || try == tries || !d.engine.again(err) {
			return err
		}
		most := busyTimeout >> (tries - try) // 5 ms after the first try, the double after each further one
		select {
		case <-time.After(rand.N(most)): // jitter: two that failed because of each other must not meet again
		case <-ctx.Done():
			return fmt.Errorf("write to %s: %w", d.Path, errors.Join(ctx.Err(), err))
		}
	}
}

// runOnce runs a transaction once, on a server in as few trips as it can. One that fails there in a way that
// fn may expect runs again, statement by statement.
func (d *DB) runOnce(ctx context.Context, t Tx, fn func(*Tx) error) error {
	if d.engine.shared() {
		err := d.runInTrips(ctx, t, fn)
		if _, lost := errors.AsType[*pgconn.ConnectError](err); err == nil || lost || !errors.Is(err, errAlone) && !pgconn.SafeToRetry(err) {
			return d.explain(interrupted(ctx, err))
		}
	}
	return d.run(ctx, &t, fn)
}

// Read returns what fn reads in a transaction of View.
func Read[T any](ctx context.Context, d *DB, fn func(*Tx) (T, error)) (v T, err error) {
	err = d.View(ctx, func(tx *Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v, err
}

// reader is a transaction that reads.
func (d *DB) reader() *Tx {
	return &Tx{readOnly: true, moment: &time.Time{}, machine: d.machine, statement: d.engine.statement, locks: d.engine.locks()}
}

func (d *DB) run(ctx context.Context, t *Tx, fn func(*Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, d.engine.options(t.readOnly))
	if err != nil {
		return fmt.Errorf("begin on %s: %w", d.Path, d.explain(interrupted(ctx, err)))
	}
	defer tx.Rollback()
	t.sql, t.statement, t.locks = tx, d.engine.statement, d.engine.locks()
	err = fn(t)
	if err = cmp.Or(err, t.taken); err != nil {
		return d.explain(interrupted(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit to %s: %w", d.Path, d.explain(interrupted(ctx, err)))
	}
	return nil
}

// explain explains an error of a transaction, and remembers that a file is damaged.
func (d *DB) explain(err error) error {
	err = d.engine.explain(err)
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

// interrupted adds the context's error to an error that it caused, because SQLite only reports
// "interrupted".
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
