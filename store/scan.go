package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// An entity has one list of columns and one function that gives, in the same
// order, where each of them lives in the struct. The same places are scanned
// into and sent as arguments; the types below are both Scanner and Valuer.

// timeOf stores a time as unix milliseconds; 0 is the zero time.
type timeOf struct{ t *time.Time }

func (x timeOf) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan a time: %T", src)
	}
	*x.t = fromMillis(n)
	return nil
}

func (x timeOf) Value() (driver.Value, error) { return millis(*x.t), nil }

func fromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// refOf stores a reference to another row; 0 is NULL.
type refOf struct{ id *int64 }

func (x refOf) Scan(src any) error {
	switch n := src.(type) {
	case nil:
		*x.id = 0
	case int64:
		*x.id = n
	default:
		return fmt.Errorf("scan a reference: %T", src)
	}
	return nil
}

func (x refOf) Value() (driver.Value, error) {
	if *x.id == 0 {
		return nil, nil
	}
	return *x.id, nil
}

// listOf stores strings as a JSON array.
type listOf struct{ s *[]string }

func (x listOf) Scan(src any) error { return scanJSON(src, x.s, "[]") }

func (x listOf) Value() (driver.Value, error) { return valueJSON(*x.s, len(*x.s) == 0, "[]") }

// reasonOf is a reason, as JSON; none is the empty text. One that cannot be read is not
// known: it must not keep a pass, or status, from all the rest.
type reasonOf struct{ r *work.Reason }

func (x reasonOf) Scan(src any) error {
	if err := scanJSON(src, x.r, ""); err != nil || x.r.None() && src != "" {
		*x.r = work.Reason{Kind: work.WhyUnknown, Local: fmt.Sprint(src)}
	}
	return nil
}

func (x reasonOf) Value() (driver.Value, error) { return valueJSON(x.r, x.r.None(), "") }

func scanJSON[T any](src any, into *T, zero string) error {
	*into = *new(T)
	if text, _ := src.(string); text != zero { // anything else than text is no JSON
		return json.Unmarshal([]byte(text), into)
	}
	return nil
}

func valueJSON(v any, none bool, zero string) (driver.Value, error) {
	if none {
		return zero, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// nameOf stores a repository's name as host/owner/name.
type nameOf struct{ n *work.RepoName }

func (x nameOf) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan a repository's name: %T", src)
	}
	n, err := work.ParseRepoName(text, "")
	*x.n = n
	return err
}

func (x nameOf) Value() (driver.Value, error) { return x.n.String(), nil }

// scanner is a row that is ready to be read.
type scanner interface{ Scan(dest ...any) error }

func scanCount(row scanner) (n int, err error)     { return n, row.Scan(&n) }
func scanString(row scanner) (s string, err error) { return s, row.Scan(&s) }

// list reads every row of a query; what is for the error message.
func list[T any](ctx context.Context, t *transaction, what string, scan func(scanner) (T, error), query string, args ...any) (_ []T, err error) {
	rows, err := t.tx.QueryContext(ctx, query, args...)
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

// find reads the only row of a query, if there is one.
func find[T any](ctx context.Context, t *transaction, what string, scan func(scanner) (T, error), query string, args ...any) (T, bool, error) {
	v, err := scan(t.tx.QueryRowContext(ctx, query, args...))
	var none T
	if errors.Is(err, sql.ErrNoRows) {
		return none, false, nil
	}
	if err != nil {
		return none, false, fmt.Errorf("%s: %w", what, err)
	}
	return v, true, nil
}

// get reads a row that must exist.
func get[T any](ctx context.Context, t *transaction, what string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	v, ok, err := find(ctx, t, what, scan, query, args...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return v, err
}

// exec writes, and tells how many rows it touched.
func (t *transaction) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	if t.readOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	res, err := t.tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// one writes to exactly one row, or fails with missing.
func (t *transaction) one(ctx context.Context, what string, missing error, query string, args ...any) error {
	n, err := t.exec(ctx, what, query, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %w", what, missing)
	}
	return err
}

// insert adds a row unless a unique index knows it already, which is ErrStale.
func (t *transaction) insert(ctx context.Context, what, table, columns string, fields []any) (int64, error) {
	if t.readOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	query := `INSERT INTO ` + table + ` (` + columns + `) VALUES (` + marks(len(fields)) + `) ON CONFLICT DO NOTHING RETURNING id`
	id, ok, err := find(ctx, t, what, scanID, query, fields...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrStale)
	}
	return id, err
}

func scanID(row scanner) (id int64, err error) { return id, row.Scan(&id) }

// marks are n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// stamp is at, or the transaction's own time: a zero stamp would mean that it
// never happened.
func (t *transaction) stamp(at time.Time) int64 {
	if at.IsZero() {
		at = t.now
	}
	return millis(at)
}
