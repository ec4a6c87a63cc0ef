// Package rows is what the kinds of rows have in common: a transaction, the few ways
// to read and write by it, and how a field lives in a column. It knows no table.
package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that a row which must exist does not.
	ErrNotFound = errors.New("not found")
	// ErrStale says that a compare-and-set lost: the row is not, or no longer,
	// in the state from which the caller wanted to move it.
	ErrStale = errors.New("stale")
	// ErrReadOnly says that a write was tried where only reads are allowed.
	ErrReadOnly = errors.New("read-only")
)

// Tx is the transaction itself, which the rows of each kind share.
type Tx struct {
	SQL      *sql.Tx
	Now      time.Time           // one stamp for the whole transaction
	Redact   func(string) string // nil: nothing is taken out
	ReadOnly bool
}

// Clean is a reason or an error's text as it may be stored: both may quote what
// an agent, git or a server said.
func (t *Tx) Clean(s string) string {
	if t.Redact == nil {
		return s
	}
	return t.Redact(s)
}

// Row is a row that is ready to be read.
type Row interface{ Scan(dest ...any) error }

// ScanID reads a row that is an id.
func ScanID(row Row) (id int64, err error) { return id, row.Scan(&id) }

// ScanCount reads a row that is a count.
func ScanCount(row Row) (n int, err error) { return n, row.Scan(&n) }

// ScanString reads a row that is a text.
func ScanString(row Row) (s string, err error) { return s, row.Scan(&s) }

// List reads every row of a query; what is for the error message.
func List[T any](ctx context.Context, t *Tx, what string, scan func(Row) (T, error), query string, args ...any) (_ []T, err error) {
	rows, err := t.SQL.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return all, nil
}

// Find reads the only row of a query, if there is one.
func Find[T any](ctx context.Context, t *Tx, what string, scan func(Row) (T, error), query string, args ...any) (T, bool, error) {
	v, err := scan(t.SQL.QueryRowContext(ctx, query, args...))
	var none T
	if errors.Is(err, sql.ErrNoRows) {
		return none, false, nil
	}
	if err != nil {
		return none, false, fmt.Errorf("%s: %w", what, err)
	}
	return v, true, nil
}

// Get reads a row that must exist.
func Get[T any](ctx context.Context, t *Tx, what string, scan func(Row) (T, error), query string, args ...any) (T, error) {
	v, ok, err := Find(ctx, t, what, scan, query, args...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return v, err
}

// Exec writes, and tells how many rows it touched.
func (t *Tx) Exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	if t.ReadOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	res, err := t.SQL.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// One writes to exactly one row, or fails with missing.
func (t *Tx) One(ctx context.Context, what string, missing error, query string, args ...any) error {
	n, err := t.Exec(ctx, what, query, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %w", what, missing)
	}
	return err
}

// Insert adds a row unless a unique index knows it already, which is ErrStale.
func (t *Tx) Insert(ctx context.Context, what, table, columns string, fields []any) (int64, error) {
	if t.ReadOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	query := `INSERT INTO ` + table + ` (` + columns + `) VALUES (` + Marks(len(fields)) + `) ON CONFLICT DO NOTHING RETURNING id`
	id, ok, err := Find(ctx, t, what, ScanID, query, fields...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrStale)
	}
	return id, err
}

// Named is an argument that a query names, after an @.
func Named(name string, value any) any { return sql.Named(name, value) }

// Marks are n placeholders.
func Marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// Stamp is at, or the transaction's own time: a zero stamp would mean that it
// never happened.
func (t *Tx) Stamp(at time.Time) int64 {
	if at.IsZero() {
		at = t.Now
	}
	return Millis(at)
}
