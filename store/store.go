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
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/store/busy"
	"github.com/mergexo/gh-mergexo/store/dbfile"
	"github.com/mergexo/gh-mergexo/store/merges"
	"github.com/mergexo/gh-mergexo/store/passes"
	"github.com/mergexo/gh-mergexo/store/repos"
	"github.com/mergexo/gh-mergexo/store/reviews"
	"github.com/mergexo/gh-mergexo/store/rows"
	"github.com/mergexo/gh-mergexo/store/shares"
	"github.com/mergexo/gh-mergexo/store/told"
	"github.com/mergexo/gh-mergexo/store/totals"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that a row which must exist does not.
	ErrNotFound = rows.ErrNotFound
	// ErrStale says that a compare-and-set lost: the row is not, or no longer,
	// in the state from which the caller wanted to move it.
	ErrStale = rows.ErrStale
	// ErrReadOnly says that a write was tried where only reads are allowed.
	ErrReadOnly = rows.ErrReadOnly
)

// What tells where there is something to do.
type (
	BusySet  = busy.Set
	Policies = busy.Policies
)

// What IdentifyRepo is told and tells.
type (
	Identity   = repos.Identity
	Identified = repos.Identified
)

// ListPage is a page that is kept of a list that was not read to its end.
type ListPage = repos.ListPage

// What became of the row of a name.
const (
	RepoSame     = repos.RepoSame
	RepoRenamed  = repos.RepoRenamed
	RepoReplaced = repos.RepoReplaced
)

// What is stored of reviews beside what internal/work/review has names for.
type (
	Reviews       = reviews.Stored
	ReviewRequest = reviews.Request
	ReviewLog     = reviews.LogEntry
)

// ErrOlder says that a database is of an older version of this program: a pass brings it
// up to date.
var ErrOlder = dbfile.ErrOlder

// What sums up what was done, pruned or not.
type (
	By          = totals.By
	Timed       = totals.Timed
	TotalKey    = totals.Key
	CostLine    = totals.CostLine
	CountLine   = totals.CountLine
	VerdictLine = totals.VerdictLine
	TimeLine    = totals.TimeLine
	PullFacts   = totals.PullFacts
	Mark        = totals.Mark
)

// What sums are kept apart by, and what takes a time.
const (
	ByDay      = totals.ByDay
	ByRepo     = totals.ByRepo
	ByItem     = totals.ByItem
	ByKind     = totals.ByKind
	ByAgent    = totals.ByAgent
	ByReviewer = totals.ByReviewer
	ByOutcome  = totals.ByOutcome
	TimeTurn   = totals.TimeTurn
	TimeAnswer = totals.TimeAnswer

	MarkTurn    = totals.MarkTurn
	MarkVerdict = totals.MarkVerdict
	MarkPerson  = totals.MarkPerson
)

// TimeBounds are the upper bounds of the buckets of times.
func TimeBounds() []time.Duration { return totals.Bounds() }

// DiskError says that the disk does not take what SQLite writes.
type DiskError = dbfile.DiskError

// DB is an open state database.
type DB struct {
	*dbfile.File
	clock    sync.Mutex // guards now
	now      func() time.Time
	redact   func(string) string
	writer   chan struct{} // one writer at a time within the process
	readOnly bool
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
//
// Each kind of row has its methods in a type of its own; all are called on the Tx.
type Tx struct {
	tx *rows.Tx // not embedded: what sends SQL is for store alone
	repoRows
	itemRows
	pullRows
	eventRows
	turnRows
	actionRows
	reviewRows
	mergeRows
	passRows
	newsRows
	totalRows
	busyRows
	shareRows
}

type (
	repoRows   = repos.Rows
	itemRows   struct{ tx *rows.Tx }
	pullRows   struct{ tx *rows.Tx }
	eventRows  struct{ tx *rows.Tx }
	turnRows   struct{ tx *rows.Tx }
	actionRows struct{ tx *rows.Tx }
	reviewRows = reviews.Rows
	mergeRows  = merges.Rows
	passRows   = passes.Rows
	newsRows   = told.Rows
	totalRows  = totals.Rows
	busyRows   = busy.Rows
	shareRows  = shares.Rows
)

func newTx(c *rows.Tx) *Tx {
	reviewed := reviews.In(c)
	return &Tx{c, repos.In(c), itemRows{c}, pullRows{c}, eventRows{c}, turnRows{c}, actionRows{c}, reviewed, merges.In(c, reviewed.SetLook), passes.In(c), told.In(c), totals.In(c), busy.In(c), shares.In(c)}
}

// Update runs fn in a write transaction and commits it when fn returns nil.
// When Update returns nil, what fn wrote survives a power loss. fn does no I/O
// of its own: other passes wait for it.
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
	return d.run(ctx, &sql.TxOptions{}, &rows.Tx{Now: d.time(), Redact: d.redact}, fn)
}

// View runs fn in a read transaction: one unchanging picture of the database,
// which neither waits for writers nor stops them.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	return d.run(ctx, &sql.TxOptions{ReadOnly: true}, &rows.Tx{ReadOnly: true}, fn)
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

func (d *DB) run(ctx context.Context, opt *sql.TxOptions, c *rows.Tx, fn func(*Tx) error) error {
	tx, err := d.SQL.BeginTx(ctx, opt)
	if err != nil {
		return fmt.Errorf("begin on %s: %w", d.Path, dbfile.NoRoom(dbfile.Interrupted(ctx, err)))
	}
	defer tx.Rollback()
	c.SQL = tx
	if err := fn(newTx(c)); err != nil {
		return dbfile.NoRoom(dbfile.Interrupted(ctx, err))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit to %s: %w", d.Path, dbfile.NoRoom(dbfile.Interrupted(ctx, err)))
	}
	return nil
}
