package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// A server may be far away: what a transaction costs is how often it waits for an answer. So a function runs first to
// learn what it reads, with rows that are missing, and again with the answers. The beginning of a transaction is sent
// with its first reads, and writes are sent with the next read, or with the end.

// View runs fn in a read transaction. It sees one state of the database, does not wait for writers and does not block
// them. fn may run with rows that are missing, and again: each trip to a server asks all that is known to be read,
// again, so that the last one has answered from one state of the database. If fn writes, View fails with ErrReadOnly.
func (d *DB) View(ctx context.Context, fn func(*Tx) error) error {
	if !d.engine.shared() && !d.runTwice {
		return d.runOnce(ctx, *d.reader(), fn)
	}
	read, t := reads{}, d.reader()
	for range mostTrips {
		before := len(read.asked)
		read.wrote = nil
		learning := *t
		learning.reads = &read
		err := learn(fn, &learning)
		if len(read.asked) == before {
			return d.explain(interrupted(ctx, cmp.Or(read.wrote, err)))
		}
		answered, err := d.engine.answer(ctx, d.SQL, read.asked)
		if err != nil {
			return d.explain(interrupted(ctx, err))
		}
		if !answered {
			break
		}
	}
	return d.runOnce(ctx, *t, fn)
}

// mostTrips is after how many trips a function is taken to read something else each time, such as by the time of the
// moment. It then reads one after the other.
const mostTrips = 10

// learn runs a function that is to run again, with rows that are missing and writes that change nothing. It may
// panic because of that.
func learn(fn func(*Tx) error, t *Tx) (err error) {
	before := len(t.reads.asked)
	defer func() {
		if len(t.reads.asked) > before || t.reads.wrote != nil {
			_ = recover()
		}
	}()
	return fn(t)
}

// UpdateIfNeeded is Update for a function that seldom writes: it is a View, and an Update only if fn writes.
func (d *DB) UpdateIfNeeded(ctx context.Context, fn func(*Tx) error) error {
	err := d.View(ctx, fn)
	if errors.Is(err, ErrReadOnly) {
		return d.Update(ctx, fn)
	}
	return err
}

// reads are what a function reads, with the answers that are there.
type reads struct {
	asked []*question
	first bool  // what it reads after it wrote is not asked
	wrote error // it wrote
}

// question is one read, and what the server answered.
type question struct {
	text   string
	args   []any
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	rows   [][][]byte

	changed int64 // how many rows it changed
}

// rows returns the answer to a statement; empty before there is one.
func (r *reads) rows(text string, args []any) rows {
	q := r.find(text, args)
	if q == nil && (!r.first || r.wrote == nil) {
		q = &question{text: text, args: args}
		r.asked = append(r.asked, q)
	}
	return &answer{of: q}
}

// find returns the question of a statement; nil: it was not asked.
func (r *reads) find(text string, args []any) *question {
	for _, q := range r.asked {
		if q.text == text && slices.EqualFunc(q.args, args, sameArg) {
			return q
		}
	}
	return nil
}

// write notes that a function writes.
func (r *reads) write(what string) {
	r.wrote = cmp.Or(r.wrote, fmt.Errorf("%s: %w", what, ErrReadOnly))
}

func sameArg(a, b any) bool { return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b) }

// answer is a cursor on the rows of a question; nil: there are none.
type answer struct {
	of   *question
	next int // the row after the current one
}

// Next implements rows.
func (a *answer) Next() bool {
	if a.of == nil || a.next == len(a.of.rows) {
		return false
	}
	a.next++
	return true
}

// Scan implements scanner.
func (a *answer) Scan(dest ...any) error {
	row := a.of.rows[a.next-1]
	if len(dest) != len(row) {
		return fmt.Errorf("scan %d columns into %d fields", len(row), len(dest))
	}
	for i, to := range dest {
		if b, is := to.(*bool); is {
			to = numberOrBool{b}
		}
		f := a.of.fields[i]
		if err := a.of.types.Scan(f.DataTypeOID, f.Format, row[i], to); err != nil {
			return fmt.Errorf("scan column %s: %w", f.Name, err)
		}
	}
	return nil
}

// Err implements rows.
func (a *answer) Err() error { return nil }

// Close implements rows.
func (a *answer) Close() error { return nil }

// numberOrBool scans a boolean from a column of the schema, where it is a number, or from an expression.
type numberOrBool struct{ b *bool }

// Scan implements sql.Scanner.
func (x numberOrBool) Scan(value any) error {
	var b sql.Null[bool]
	err := b.Scan(value)
	*x.b = b.V
	return err
}

// answer implements engine: one transaction reads the answers to all questions, and its beginning and end
// go with them.
func (*postgresEngine) answer(ctx context.Context, pool *sql.DB, asked []*question) (answered bool, err error) {
	if len(asked) == 0 {
		return true, nil
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return true, conn.Raw(func(c any) (err error) {
		all := &pgx.Batch{}
		all.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
		for _, q := range asked {
			all.Queue(q.text, q.args...)
		}
		all.Queue(`COMMIT`)
		got := c.(*stdlib.Conn).Conn().SendBatch(ctx, all)
		defer func() { err = errors.Join(err, got.Close()) }()
		if _, err := got.Exec(); err != nil {
			return err
		}
		for _, q := range asked {
			if err := q.read(got); err != nil {
				return err
			}
		}
		_, err = got.Exec()
		return err
	})
}

func (q *question) read(from pgx.BatchResults) error {
	got, err := from.Query()
	if err != nil {
		return err
	}
	defer got.Close()
	q.types, q.fields, q.rows = pgtype.NewMap(), slices.Clone(got.FieldDescriptions()), nil
	for got.Next() {
		raw := got.RawValues()
		row := make([][]byte, len(raw))
		for i, v := range raw {
			row[i] = slices.Clone(v)
		}
		q.rows = append(q.rows, row)
	}
	q.changed = got.CommandTag().RowsAffected() // closed, as it was read to its end
	return got.Err()
}

// runInTrips is run on a server.
func (d *DB) runInTrips(ctx context.Context, t Tx, fn func(*Tx) error) (err error) {
	conn, err := d.SQL.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) (err error) {
		w := &unsent{conn: c.(*stdlib.Conn).Conn(), begin: `BEGIN ISOLATION LEVEL SERIALIZABLE`}
		if t.readOnly {
			w.begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
		}
		defer func() {
			if w.begun && w.conn.PgConn().TxStatus() != 'I' && !w.conn.IsClosed() {
				_, failed := w.conn.Exec(context.WithoutCancel(ctx), `ROLLBACK`)
				err = errors.Join(err, failed)
			}
		}()
		t.unsent = w
		if err := fn(&t); err != nil || t.taken != nil {
			if len(w.queued) > 0 && w.failed == nil && !errors.Is(err, errRunAgain) { // one that was not sent yet may have failed first
				return fmt.Errorf("%w: %w", errAlone, err)
			}
			return cmp.Or(w.failed, t.taken, err)
		}
		return w.commit(ctx)
	})
}

// unsent are writes of a transaction on a server that are not sent yet.
type unsent struct {
	conn   *pgx.Conn
	begin  string // how the transaction begins
	begun  bool
	queued []*question
	known  reads // that were answered before anything was written
	failed error // of what was sent: the transaction is over
}

// errAlone says that a transaction has to run statement by statement: one that was sent with others failed, and
// the function may go on after that.
var errAlone = errors.New("a statement that was sent with others failed")

// Ahead runs a part of a transaction that may run with rows that are missing, and again. On a server, all that it reads
// before it writes is asked together.
func (t *Tx) Ahead(ctx context.Context, fn func(*Tx) error) error {
	switch {
	case t.unsent != nil:
		if err := t.unsent.ask(ctx, *t, fn); err != nil {
			return err
		}
	case t.rehearsed && t.reads == nil:
		missing := *t
		missing.reads = &reads{first: true}
		_ = learn(fn, &missing)
	}
	return fn(t)
}

// ask asks what a function reads before it writes: until then an answer stays true.
func (w *unsent) ask(ctx context.Context, t Tx, fn func(*Tx) error) error {
	w.known.first = true
	for range mostTrips {
		before := len(w.known.asked)
		w.known.wrote = nil
		learning := t
		learning.reads = &w.known
		_ = learn(fn, &learning)
		if len(w.known.asked) == before {
			break
		}
		if err := w.send(ctx, w.known.asked[before:]...); err != nil {
			return err
		}
	}
	return nil
}

// send sends what is queued, and then questions, in one trip.
func (w *unsent) send(ctx context.Context, asked ...*question) error {
	if len(w.queued) == 0 && len(asked) == 0 || w.failed != nil {
		return w.failed
	}
	batch := &pgx.Batch{}
	if !w.begun {
		batch.Queue(w.begin)
	}
	all := slices.Concat(w.queued, asked)
	for _, q := range all {
		batch.Queue(q.text, q.args...)
	}
	got := w.conn.SendBatch(ctx, batch)
	var err error
	if !w.begun {
		_, err = got.Exec()
	}
	w.begun, w.queued = true, nil
	for _, q := range all {
		if err == nil {
			err = q.read(got)
		}
	}
	err = cmp.Or(err, got.Close())
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && (failed.Code == "22012" || strings.HasPrefix(failed.Code, "23")) {
		err = fmt.Errorf("%w: %w", errAlone, err)
	}
	w.failed = err
	return err
}

// commit sends what is queued with the end of the transaction.
func (w *unsent) commit(ctx context.Context) error {
	if !w.begun && len(w.queued) == 0 {
		return w.failed
	}
	w.queued = append(w.queued, &question{text: `COMMIT`})
	return w.send(ctx)
}

// count sends what is queued, and returns how many rows the last write changed.
func (w *unsent) count(ctx context.Context) (int64, error) {
	last := w.queued[len(w.queued)-1]
	if err := w.send(ctx); err != nil {
		return 0, err
	}
	return last.changed, nil
}
