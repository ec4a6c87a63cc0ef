// Package store is the program's memory: SQLite, its schema and every
// statement that is ever sent to it.
//
// A DB hands out transactions, and everything else is a method of Tx, so that
// callers decide what belongs together. State moves by compare-and-set: a
// writer whose premise no longer holds gets ErrStale and nothing is changed.
// Several processes may have the same file open.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that a row which must exist does not.
	ErrNotFound = errors.New("not found")
	// ErrStale says that a compare-and-set lost: the row is not, or no longer,
	// in the state from which the caller wanted to move it.
	ErrStale = errors.New("stale")
	// ErrReplaced says that the database file was deleted or replaced while it
	// was open. What would be written now, nobody would read.
	ErrReplaced = errors.New("the database file was deleted or replaced while it was in use")
	// ErrNewer says that a newer version of the program wrote the file.
	ErrNewer = errors.New("written by a newer gh mergexo")
	// ErrOlder says that the file waits for a migration, which a reader never makes.
	ErrOlder = errors.New("written by an older gh mergexo")
	// ErrTooOld says that the file is from before the first schema, from which no
	// migration leads on.
	ErrTooOld = errors.New("written by a gh mergexo from before its first release")
	// ErrReadOnly says that a write was tried where only reads are allowed.
	ErrReadOnly = errors.New("read-only")
)

// DB is an open state database.
type DB struct {
	sql      *sql.DB
	path     string
	file     fs.FileInfo
	clock    sync.Mutex // guards now
	now      func() time.Time
	redact   func(string) string
	writer   chan struct{} // one writer at a time within the process
	readOnly bool
}

// Close releases the file.
func (d *DB) Close() error {
	if err := d.sql.Close(); err != nil {
		return fmt.Errorf("close %s: %w", d.path, err)
	}
	return nil
}

// GoBy has later transactions take their time from another clock.
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

// Tx is one transaction. Its methods read and write; nothing that they write
// is on disk before Update has returned.
type Tx struct {
	tx       *sql.Tx
	now      time.Time // one stamp for the whole transaction
	redact   func(string) string
	readOnly bool
}

// clean is a reason or an error's text as it may be stored: both may quote what
// an agent, git or a server said.
func (t *Tx) clean(s string) string {
	if t.redact == nil {
		return s
	}
	return t.redact(s)
}

// Update runs fn in a write transaction and commits it when fn returns nil.
// When Update returns nil, what fn wrote survives a power loss. fn does no I/O
// of its own: other passes wait for it.
func (d *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if d.readOnly {
		return fmt.Errorf("write to %s: %w", d.path, ErrReadOnly)
	}
	select {
	case d.writer <- struct{}{}:
		defer func() { <-d.writer }()
	case <-ctx.Done():
		return fmt.Errorf("write to %s: %w", d.path, ctx.Err())
	}
	if err := d.InPlace(); err != nil {
		return err
	}
	return d.run(ctx, &sql.TxOptions{}, &Tx{now: d.time(), redact: d.redact}, fn)
}

// View runs fn in a read transaction: one unchanging picture of the database,
// which neither waits for writers nor stops them.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return d.run(ctx, &sql.TxOptions{ReadOnly: true}, &Tx{readOnly: true}, fn)
}

// MarkSent is Tx.MarkSent in a transaction of its own: when it returns, the
// intent is on disk and the request may be made.
func (d *DB) MarkSent(ctx context.Context, id int64, at time.Time) (int, error) {
	var sends int
	err := d.Update(ctx, func(tx *Tx) (err error) {
		sends, err = tx.MarkSent(ctx, id, at)
		return err
	})
	return sends, err
}

func (d *DB) run(ctx context.Context, opt *sql.TxOptions, t *Tx, fn func(*Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, opt)
	if err != nil {
		return fmt.Errorf("begin on %s: %w", d.path, noRoom(interrupted(ctx, err)))
	}
	defer tx.Rollback()
	t.tx = tx
	if err := fn(t); err != nil {
		return noRoom(interrupted(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit to %s: %w", d.path, noRoom(interrupted(ctx, err)))
	}
	return nil
}

// InPlace tells whether the path still leads to the file that is open, with an error
// that is ErrReplaced where it does not. SQLite goes on writing to a deleted file
// without a word.
func (d *DB) InPlace() error {
	now, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write to %s: %w", d.path, ErrReplaced)
	case err != nil:
		return fmt.Errorf("write to %s: %w", d.path, err)
	case !os.SameFile(d.file, now):
		return fmt.Errorf("write to %s: %w", d.path, ErrReplaced)
	}
	return nil
}

// interrupted makes the context's end visible in an error that it caused:
// SQLite only says "interrupted".
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
