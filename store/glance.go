package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// Glance is View for reads that do not depend on each other's rows: a server answers all of them in one
// round trip. There, fn runs twice: the first time no read finds a row, to learn what is read. If fn reads
// something else the second time, Glance is View. If fn writes, Glance fails with ErrReadOnly.
func (d *DB) Glance(ctx context.Context, fn func(*Tx) error) error {
	if !d.engine.shared() && !d.runTwice {
		return d.View(ctx, fn)
	}
	g := &glance{}
	t := Tx{readOnly: true, machine: d.machine, statement: d.engine.statement, glance: g}
	first := t
	_ = fn(&first) // its error may come from the missing rows
	answered, err := d.engine.answer(ctx, d.SQL, g.asked)
	if err != nil {
		return d.explain(interrupted(ctx, err))
	}
	if !answered {
		return d.View(ctx, fn)
	}
	g.answered = true
	second := t
	err = fn(&second)
	if g.missed {
		return d.View(ctx, fn)
	}
	return d.explain(interrupted(ctx, err))
}

// UpdateIfNeeded is Update for a function that seldom writes: it is a Glance, and an Update only if fn
// writes.
func (d *DB) UpdateIfNeeded(ctx context.Context, fn func(*Tx) error) error {
	err := d.Glance(ctx, fn)
	if errors.Is(err, ErrReadOnly) {
		return d.Update(ctx, fn)
	}
	return err
}

// glance has the reads of a Glance.
type glance struct {
	asked    []*question
	answered bool
	missed   bool // a read is none of those that were asked
}

// question is one read of a Glance, and what the server answered.
type question struct {
	text   string
	args   []any
	types  *pgtype.Map
	fields []pgconn.FieldDescription
	rows   [][][]byte
}

// rows returns what the server answered to a statement.
func (g *glance) rows(text string, args []any) (rows, error) {
	args = slices.DeleteFunc(args, func(a any) bool { _, mode := a.(pgx.QueryExecMode); return mode })
	i := slices.IndexFunc(g.asked, func(q *question) bool { return q.text == text && slices.EqualFunc(q.args, args, sameArg) })
	switch {
	case !g.answered && i < 0:
		g.asked = append(g.asked, &question{text: text, args: args})
		return &answer{}, nil
	case !g.answered:
		return &answer{}, nil
	case i < 0:
		g.missed = true
		return nil, errors.New("not asked")
	}
	return &answer{of: g.asked[i]}, nil
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
	q.types, q.fields = pgtype.NewMap(), slices.Clone(got.FieldDescriptions())
	for got.Next() {
		raw := got.RawValues()
		row := make([][]byte, len(raw))
		for i, v := range raw {
			row[i] = slices.Clone(v)
		}
		q.rows = append(q.rows, row)
	}
	return got.Err()
}
