package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// Tx is one transaction. Its writes are on disk only when Update has returned.
type Tx struct {
	sql       *sql.Tx
	statement func(query string, args []any) (string, []any) // the engine's
	locks     string                                         // a query for the locks of all sessions; empty: there are none
	now       time.Time                                      // the same time for the whole transaction
	moment    *time.Time                                     // see Moment
	redact    func(string) string                            // nil: secrets are not removed
	machine   string                                         // this one
	readOnly  bool
	rehearsed bool    // Ahead runs with rows that are missing also where no trip is saved, see Options.RunTwice
	reads     *reads  // a function that is learned from; sql is nil then
	unsent    *unsent // what a transaction on a server has not sent; sql is nil then

	claims      []Claim
	claimedOnly bool // see Options.ClaimedOnly
	checked     bool
	taken       error // a claim was lost: nothing is committed, even if the function returns nil
}

// Moment returns the time by a clock, the same one in each run of the transaction's function: by another time it would
// read something else, which is another trip to a server.
func (t *Tx) Moment(clock func() time.Time) time.Time {
	if t.moment.IsZero() {
		*t.moment = clock()
	}
	return *t.moment
}

// clean removes secrets from a reason or error text before it is stored, because it may quote an
// agent, git or a server.
func (t *Tx) clean(s string) string {
	if t.redact == nil {
		return s
	}
	return t.redact(s)
}

// prepare returns a statement and its arguments as the engine's driver takes them.
func (t *Tx) prepare(query string, args []any) (string, []any) {
	makeStorable(args)
	return t.statement(query, args)
}

// makeStorable replaces in texts what PostgreSQL does not store, U+0000 and bytes that are not UTF-8,
// by U+FFFD. An agent may write either, and GitHub takes neither. Both engines store the same text,
// and a row that is added is returned as it is stored. JSON has its own escapes.
func makeStorable(args []any) {
	for i, a := range args {
		switch s := a.(type) {
		case string:
			if !isStorable(s) {
				args[i] = storable(s)
			}
			continue
		case *string:
			if !isStorable(*s) {
				*s = storable(*s)
			}
			continue
		case field, nil:
			continue
		}
		switch r := reflect.ValueOf(a); {
		case r.Kind() == reflect.String && !isStorable(r.String()):
			args[i] = storable(r.String())
		case r.Kind() == reflect.Pointer && r.Elem().Kind() == reflect.String && !isStorable(r.Elem().String()):
			r.Elem().SetString(storable(r.Elem().String()))
		}
	}
}

func isStorable(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// scanner is a row to scan.
type scanner interface{ Scan(dest ...any) error }

// rows are what a query found.
type rows interface {
	scanner
	Next() bool
	Err() error
	Close() error
}

// query sends a query, or finds the answer that is there. It may be an INSERT that returns
// something.
func (t *Tx) query(ctx context.Context, query string, args []any) (rows, error) {
	if err := t.checkClaims(ctx, query); err != nil {
		return nil, err
	}
	query, args = t.prepare(query, args)
	if t.reads != nil || t.unsent != nil {
		args = slices.DeleteFunc(args, func(a any) bool { _, mode := a.(pgx.QueryExecMode); return mode })
	}
	switch {
	case t.reads != nil:
		if writtenTo(query) != "" {
			t.reads.write(query, query)
			return &answer{}, nil
		}
		return t.reads.rows(query, args), nil
	case t.unsent != nil:
		return t.unsent.rows(ctx, query, args)
	}
	return t.sql.QueryContext(ctx, query, args...) //nolint:rowserrcheck // read checks it
}

// writtenTo returns the table that a statement writes to; empty: it only reads.
func writtenTo(statement string) string {
	_, table := written(statement)
	return table
}

// written returns how a statement writes to which table. It looks at the statement's beginning alone: each
// statement of a pass is asked.
func written(statement string) (verb, table string) {
	for _, verb := range []string{"INSERT INTO ", "UPDATE ", "DELETE FROM "} {
		if rest, writes := strings.CutPrefix(strings.TrimSpace(statement), verb); writes {
			if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
				rest = rest[:end]
			}
			return verb, rest
		}
	}
	return "", ""
}

func scanID(row scanner) (id int64, err error) { return id, row.Scan(&id) }

func scanCount(row scanner) (n int, err error) { return n, row.Scan(&n) }

func scanString(row scanner) (s string, err error) { return s, row.Scan(&s) }

// listRows reads every row of a query. what is for the error message.
func listRows[T any](ctx context.Context, t *Tx, what string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	_, err := t.read(ctx, what, false, query, args, func(row scanner) error {
		v, err := scan(row)
		if err == nil {
			all = append(all, v)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// findRow reads the only row of a query. It returns false if there is none.
func findRow[T any](ctx context.Context, t *Tx, what string, scan func(scanner) (T, error), query string, args ...any) (v T, ok bool, err error) {
	n, err := t.read(ctx, what, true, query, args, func(row scanner) (err error) {
		v, err = scan(row)
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return v, n > 0, nil
}

// read calls a function with each row of a query, or with the first, and returns how many that were. It is no
// generic function: those are compiled once for each type of row.
func (t *Tx) read(ctx context.Context, what string, first bool, query string, args []any, each func(scanner) error) (n int, err error) {
	rows, err := t.query(ctx, query, args)
	if err == nil {
		for err == nil && (!first || n == 0) && rows.Next() {
			err = each(rows)
			n++
		}
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	if err != nil {
		return n, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// getRow reads a row that must exist, or fails with ErrNotFound.
func getRow[T any](ctx context.Context, t *Tx, what string, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	v, ok, err := findRow(ctx, t, what, scan, query, args...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return v, err
}

// write writes, however many rows that changes.
func (t *Tx) write(ctx context.Context, what, query string, args ...any) error {
	_, err := t.change(ctx, what, anyRows, query, args)
	return err
}

// exec writes and returns the number of changed rows.
func (t *Tx) exec(ctx context.Context, what, query string, args ...any) (int64, error) {
	return t.change(ctx, what, allRows, query, args)
}

// execOne writes to exactly one row, or fails with missing.
func (t *Tx) execOne(ctx context.Context, what string, missing error, query string, args ...any) error {
	n, err := t.change(ctx, what, oneRow, query, args)
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: %w", what, missing)
	}
	return err
}

// rowsChanged is what the caller of a write has to know of the number of rows.
type rowsChanged int

const (
	anyRows rowsChanged = iota // nothing
	oneRow                     // that it is one
	allRows                    // the number
)

func (t *Tx) change(ctx context.Context, what string, wants rowsChanged, query string, args []any) (n int64, err error) {
	if t.reads != nil {
		t.reads.write(what, query)
		return 1, nil
	}
	if t.readOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	if err := t.checkClaims(ctx, query); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	query, args = t.prepare(query, args)
	if t.unsent != nil {
		args = slices.DeleteFunc(args, func(a any) bool { _, mode := a.(pgx.QueryExecMode); return mode })
		t.unsent.exec(query, args, wants == oneRow)
		if wants == allRows {
			return t.unsent.count(ctx)
		}
		return 1, nil
	}
	res, err := t.sql.ExecContext(ctx, query, args...)
	if err == nil {
		n, err = res.RowsAffected()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// insert adds a row and returns its id.
func (t *Tx) insert(ctx context.Context, what, table, columns string, fields []any) (int64, error) {
	return t.insertUnless(ctx, what, table, columns, fields, "")
}

// insertNew adds a row and returns its id. It fails with ErrStale if another row has the same key.
// key lists the columns of a unique index.
func (t *Tx) insertNew(ctx context.Context, what, table, columns string, fields []any, key string) (int64, error) {
	return t.insertUnless(ctx, what, table, columns, fields, ` ON CONFLICT (`+key+`) DO NOTHING`)
}

func (t *Tx) insertUnless(ctx context.Context, what, table, columns string, fields []any, unless string) (int64, error) {
	query := `INSERT INTO ` + table + ` (` + columns + `) VALUES (` + placeholders(len(fields)) + `)` + unless + ` RETURNING id`
	if t.reads != nil {
		t.reads.write(what, query)
		return 0, nil
	}
	if t.readOnly {
		return 0, fmt.Errorf("%s: %w", what, ErrReadOnly)
	}
	id, ok, err := findRow(ctx, t, what, scanID, query, fields...)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", what, ErrStale)
	}
	return id, err
}

// placeholders returns n placeholders.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// rowPlaceholders returns the placeholders of n rows with this many columns each.
func rowPlaceholders(n, columns int) string {
	return strings.TrimSuffix(strings.Repeat("("+placeholders(columns)+"), ", n), ", ")
}

// How many values or rows go into one statement. Two lengths give two SQL texts, and a connection
// compiles each text once. The remainder of a list goes into short statements.
const (
	longStep  = 64
	shortStep = 8
)

// batches splits a list into the parts for one statement each.
func batches[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for len(list) > 0 {
			n := 1
			switch {
			case len(list) >= longStep:
				n = longStep
			case len(list) >= shortStep:
				n = shortStep
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// mostKeys is how many keys go into one statement.
const mostKeys = 512

// keySteps splits the keys of an IN (%s) into the parts for one statement each, almost always one. It
// repeats the last key up to one of a few lengths: each length is a SQL text.
func keySteps[K any](keys []K) iter.Seq[[]K] {
	return func(yield func([]K) bool) {
		for some := range slices.Chunk(keys, mostKeys) {
			n := 1
			for n < len(some) {
				n *= 8
			}
			some = slices.Concat(some, slices.Repeat(some[len(some)-1:], n-len(some)))
			if !yield(some) {
				return
			}
		}
	}
}

// listIn is listRows for a query with IN (%s). The keys are its last arguments. It runs in steps,
// so rows are ordered only within a step.
func listIn[T, K any](ctx context.Context, t *Tx, what string, scan func(scanner) (T, error), query string, keys []K, args ...any) ([]T, error) {
	var all []T
	for some := range keySteps(keys) {
		found, err := listRows(ctx, t, what, scan, fmt.Sprintf(query, placeholders(len(some))), append(slices.Clone(args), anys(some)...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// execIn is exec for a query with IN (%s). It runs in steps.
func execIn[K any](ctx context.Context, t *Tx, what, query string, keys []K, args ...any) (n int64, err error) {
	for some := range keySteps(keys) {
		changed, err := t.exec(ctx, what, fmt.Sprintf(query, placeholders(len(some))), append(slices.Clone(args), anys(some)...)...)
		if err != nil {
			return n, err
		}
		n += changed
	}
	return n, nil
}

func anys[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// stamp returns at, or the transaction's time if at is zero, because 0 in a column means "never".
func (t *Tx) stamp(at time.Time) int64 {
	if at.IsZero() {
		at = t.now
	}
	return millis(at)
}
