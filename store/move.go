package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// schemaTable is a table as an engine's catalogue describes it.
type schemaTable struct {
	name    string
	columns []column // by name
	key     []string // the columns of the primary key, in their order
	refers  []string // other tables that its rows refer to
}

// column is a column of a table.
type column struct {
	name    string
	typ     byte // of its values, see the types of arguments
	self    bool // it refers to another row of the table
	counted bool // the engine counts it up
}

// readTable reads the columns and references of a table. The first query gives the name, type, place in
// the primary key (0: none) of each column, and whether it is counted up; the second one the column and
// the other table of each reference. Both have the table's name as their argument.
func readTable(ctx context.Context, tx *Tx, t *schemaTable, columns, references string) error {
	type keyed struct {
		column
		at int
	}
	all, err := listRows(ctx, tx, "list columns of "+t.name, func(row scanner) (c keyed, err error) {
		var typ string
		err = row.Scan(&c.name, &typ, &c.at, &c.counted)
		c.typ = typesOf[strings.ToLower(typ)]
		if err == nil && c.typ == 0 {
			err = fmt.Errorf("column %s has the unknown type %s", c.name, typ)
		}
		return c, err
	}, columns, t.name)
	if err != nil {
		return err
	}
	sorted.By(all, func(a, b keyed) int { return cmp.Compare(a.at, b.at) })
	for _, c := range all {
		if c.at > 0 {
			t.key = append(t.key, c.name)
		}
		t.columns = append(t.columns, c.column)
	}
	sorted.By(t.columns, func(a, b column) int { return cmp.Compare(a.name, b.name) })
	refers, err := listRows(ctx, tx, "list references of "+t.name, func(row scanner) (r [2]string, err error) { return r, row.Scan(&r[0], &r[1]) }, references, t.name)
	for _, r := range refers {
		if r[1] != t.name {
			t.refers = append(t.refers, r[1])
			continue
		}
		for i := range t.columns {
			t.columns[i].self = t.columns[i].self || t.columns[i].name == r[0]
		}
	}
	return err
}

// typesOf are the types of columns in both schemas.
var typesOf = map[string]byte{
	"integer": typeBigint, "bigint": typeBigint, "text": typeText, "real": typeDouble, "double precision": typeDouble, "blob": typeBytes, "bytea": typeBytes,
}

func (t schemaTable) columnNames() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// read is a query of all rows, in the order of their keys: both engines order texts by their bytes.
func (t schemaTable) read() string {
	return `SELECT ` + strings.Join(t.columnNames(), ", ") + ` FROM ` + t.name + ` ORDER BY ` + strings.Join(t.key, ", ")
}

// Errors of Move that callers distinguish.
var (
	// ErrNotEmpty says that the database to which another one is to be moved has rows.
	ErrNotEmpty = errors.New("not empty")
	// ErrInUse says that another process writes to the database that is to be moved, or that a pass runs.
	ErrInUse = errors.New("in use")
)

// Move copies all rows of a database to an empty one, which may be of another engine, and compares
// them. It does so in one transaction: if Move fails or its process dies, the other database is still
// empty. Nobody can write to the first database during the copy. It keeps its rows, but no pass uses
// them any more, see ResumeFleet. If the process died between these two, the other database has all
// rows: Move compares them, and copies nothing. halt is the pause of a machine that has its database for
// itself: in the other one it holds for all machines. progress is called before each table is copied, and
// with copied before it is compared.
func Move(ctx context.Context, from, to *DB, halt Fleet, progress func(table string, copied bool)) error {
	if from.readOnly || to.readOnly {
		return fmt.Errorf("move %s to %s: %w", from.Path, to.Path, ErrReadOnly)
	}
	err := from.run(ctx, &Tx{now: from.time(), machine: from.machine}, func(source *Tx) error {
		err := to.run(ctx, &Tx{now: to.time()}, func(target *Tx) error {
			return move(ctx, mover{from, source}, mover{to, target}, halt, progress)
		})
		if err != nil {
			return err
		}
		return source.moved(ctx, to.Path)
	})
	if err != nil {
		return fmt.Errorf("move %s to %s: %w", from.Path, to.Path, err)
	}
	return nil
}

// mover is one side of a move.
type mover struct {
	db *DB
	tx *Tx
}

func move(ctx context.Context, from, to mover, halt Fleet, progress func(string, bool)) error {
	tables, err := sameTables(ctx, from, to)
	if err != nil {
		return err
	}
	if err := from.db.engine.freeze(ctx, from.tx, tables); err != nil {
		return err
	}
	fleet, err := from.tx.GetFleet(ctx)
	if err = cmp.Or(err, fleet.Moved()); err == nil && fleet.PausedAt.IsZero() && !halt.PausedAt.IsZero() {
		err = from.tx.PauseFleet(ctx, halt.PausedAt, halt.PausedBy, halt.Why)
	}
	if err != nil {
		return err
	}
	used := "" // a table that has rows
	for _, t := range tables {
		has, err := listRows(ctx, to.tx, "look into "+t.name, scanCount, `SELECT 1 FROM `+t.name+` LIMIT 1`)
		if err != nil {
			return err
		}
		if len(has) > 0 {
			used = t.name
			break
		}
	}
	for _, t := range tables {
		if used != "" { // a move that was killed at its very end has copied everything
			break
		}
		progress(t.name, false)
		if err := copyRows(ctx, from.tx, to.tx, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	for _, t := range tables {
		progress(t.name, true)
		if err := compareRows(ctx, from.tx, to.tx, t); err != nil && used != "" {
			return fmt.Errorf("%s is %w: its table %s has rows", to.db.Path, ErrNotEmpty, used)
		} else if err != nil {
			return fmt.Errorf("compare %s: %w", t.name, err)
		}
		if err := to.db.engine.countOn(ctx, to.tx, t); err != nil {
			return fmt.Errorf("set the next id of %s: %w", t.name, err)
		}
	}
	return nil
}

// sameTables returns the tables of both databases, those that others refer to first. The databases
// must have the same schema.
func sameTables(ctx context.Context, from, to mover) ([]schemaTable, error) {
	var sides [2][]schemaTable
	var have [2]int64
	for i, side := range []mover{from, to} {
		var err error
		if sides[i], err = side.db.engine.tables(ctx, side.tx); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", side.db.Path, err)
		}
		have[i], err = getRow(ctx, side.tx, "read the schema's version of "+side.db.Path, scanID,
			`SELECT CAST(coalesce(max(version_id), 0) AS BIGINT) FROM goose_db_version WHERE is_applied`)
		if err != nil {
			return nil, err
		}
		sorted.By(sides[i], func(a, b schemaTable) int { return cmp.Compare(a.name, b.name) })
	}
	if have[0] != have[1] {
		return nil, fmt.Errorf("%s has schema %d, and %s has %d: run gh mergexo tick once with each", from.db.Path, have[0], to.db.Path, have[1])
	}
	for i, t := range sides[0] {
		if len(sides[1]) != len(sides[0]) || t.name != sides[1][i].name || !slices.Equal(t.columnNames(), sides[1][i].columnNames()) || !slices.Equal(t.key, sides[1][i].key) {
			return nil, fmt.Errorf("the tables of %s and %s differ, beginning with %s", from.db.Path, to.db.Path, t.name)
		}
	}
	return parentsFirst(sides[1])
}

// parentsFirst orders tables so that each comes after those that it refers to.
func parentsFirst(tables []schemaTable) ([]schemaTable, error) {
	var ordered []schemaTable
	for left := tables; len(left) > 0; {
		waits := func(t schemaTable) bool {
			return slices.ContainsFunc(left, func(o schemaTable) bool { return slices.Contains(t.refers, o.name) })
		}
		ready := slices.DeleteFunc(slices.Clone(left), waits)
		if len(ready) == 0 {
			return nil, fmt.Errorf("the tables from %s on refer to one another in a circle", left[0].name)
		}
		ordered = append(ordered, ready...)
		left = slices.DeleteFunc(slices.Clone(left), func(t schemaTable) bool { return !waits(t) })
	}
	return ordered, nil
}

// typedNull is a NULL of a column, for which an engine needs a type.
type typedNull struct{ typ byte }

// Value is part of driver.Valuer.
func (typedNull) Value() (driver.Value, error) { return nil, nil } //nolint:nilnil // this is NULL

// copiedBytes limits the values that one statement writes: rows may have megabytes.
const copiedBytes = 4 << 20

// copyRows writes all rows of a table. References among them are written once all of them are there.
func copyRows(ctx context.Context, from, to *Tx, t schemaTable) error {
	var some [][]any
	size := 0
	flush := func() error {
		for batch := range batches(some) {
			query := `INSERT INTO ` + t.name + ` (` + strings.Join(t.columnNames(), ", ") + `) VALUES ` + rowPlaceholders(len(batch), len(t.columns))
			if err := to.raw(ctx, query, slices.Concat(batch...)...); err != nil {
				return err
			}
		}
		some, size = nil, 0
		return nil
	}
	var refer []func() error
	err := from.eachRow(ctx, t.read(), func(row []any) error {
		for i, v := range row {
			switch c := t.columns[i]; {
			case v == nil:
				row[i] = typedNull{c.typ}
			case c.self:
				at := slices.IndexFunc(t.columns, func(c column) bool { return c.name == t.key[0] })
				id, query := row[at], `UPDATE `+t.name+` SET `+c.name+` = ? WHERE `+t.key[0]+` = ?`
				refer = append(refer, func() error { return to.raw(ctx, query, v, id) })
				row[i] = typedNull{c.typ}
			}
			if text, ok := v.(string); ok {
				size += len(text)
			} else if blob, ok := v.([]byte); ok {
				size += len(blob)
			}
		}
		if some = append(some, row); len(some) < longStep && size < copiedBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	for _, do := range refer {
		if err == nil {
			err = do()
		}
	}
	return err
}

// compareRows reads the rows of a table on both sides again and fails at the first difference.
func compareRows(ctx context.Context, from, to *Tx, t schemaTable) (err error) {
	copied, err := to.sql.QueryContext(ctx, t.read())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	n := 0
	err = from.eachRow(ctx, t.read(), func(row []any) error {
		n++
		if !copied.Next() {
			return cmp.Or(copied.Err(), fmt.Errorf("row %d is missing", n))
		}
		there, err := scanAny(copied, len(row))
		if err == nil && !reflect.DeepEqual(row, there) {
			err = fmt.Errorf("row %d, %v, differs", n, keyOf(t, row))
		}
		return err
	})
	if err == nil && copied.Next() {
		err = fmt.Errorf("there are more than %d rows", n)
	}
	return cmp.Or(err, copied.Err())
}

// keyOf returns the values of a row's key, for people.
func keyOf(t schemaTable, row []any) []any {
	var key []any
	for i, c := range t.columns {
		if slices.Contains(t.key, c.name) {
			key = append(key, row[i])
		}
	}
	return key
}

// raw writes rows that are moved as they are.
func (t *Tx) raw(ctx context.Context, query string, args ...any) error {
	query, args = t.statement(query, args)
	_, err := t.sql.ExecContext(ctx, query, args...)
	return err
}

// eachRow calls do with the values of each row of a query.
func (t *Tx) eachRow(ctx context.Context, query string, do func(row []any) error) (err error) {
	rows, err := t.sql.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		row, err := scanAny(rows, len(names))
		if err == nil {
			err = do(row)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanAny returns the values of a row: integers, floats, texts, bytes and NULLs are of the same Go
// types with both engines.
func scanAny(rows *sql.Rows, n int) ([]any, error) {
	row, into := make([]any, n), make([]any, n)
	for i := range row {
		into[i] = &row[i]
	}
	return row, rows.Scan(into...)
}
