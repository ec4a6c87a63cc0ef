package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a connection waits for another's write lock; idleConns is how many
// connections stay open for the workers.
const (
	busyTimeout = 10 * time.Second
	idleConns   = 4
)

// sqliteEngine is a SQLite file that several processes share.
type sqliteEngine struct {
	path string
	info fs.FileInfo
}

func (*sqliteEngine) shared() bool             { return false }
func (*sqliteEngine) session() *pgx.ConnConfig { return nil }
func (*sqliteEngine) locks() string            { return "" }

func (*sqliteEngine) version(ctx context.Context, pool *sql.DB) (have int64, columns string, err error) {
	var tables int
	err = pool.QueryRowContext(ctx, `SELECT count(*), (SELECT coalesce(group_concat(t.name || '.' || c.name, ' '), '') FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table')
		FROM sqlite_master WHERE name = 'goose_db_version'`).Scan(&tables, &columns)
	if err == nil && tables > 0 {
		err = pool.QueryRowContext(ctx, schemaVersion).Scan(&have)
	}
	return have, columns, err
}

// answer is false, because SQLite is in the process.
func (*sqliteEngine) answer(context.Context, *sql.DB, []*question) (bool, error) { return false, nil }

func (e *sqliteEngine) replaceBy() string { return moveAway(e.path, ".old") }

func (*sqliteEngine) up(ctx context.Context, pool *sql.DB, migrations fs.FS, _ string) error {
	return upBy(ctx, goose.DialectSQLite3, pool, migrations)
}

func (*sqliteEngine) options(readOnly bool) *sql.TxOptions { return &sql.TxOptions{ReadOnly: readOnly} }

func (*sqliteEngine) statement(query string, args []any) (string, []any) { return query, args }

// again is false, because a writer waits for the one before it.
func (*sqliteEngine) again(error) bool { return false }

func (e *sqliteEngine) explain(err error) error { return explainFile(e.path, err) }

func (e *sqliteEngine) unopened(err error) error {
	if errors.Is(err, errNewer) || errors.Is(err, errTooOld) || errors.Is(err, errUnreleased) {
		return err
	}
	return writable(e.path, err)
}

// inPlace checks that the path still leads to the open file, and returns errReplaced if not. SQLite
// writes to a deleted file without an error.
func (e *sqliteEngine) inPlace() error {
	now, err := os.Stat(e.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write to %s: %w", e.path, errReplaced)
	case err != nil:
		return fmt.Errorf("write to %s: %w", e.path, err)
	case !os.SameFile(e.info, now):
		return fmt.Errorf("write to %s: %w", e.path, errReplaced)
	}
	return nil
}

// check has SQLite check the whole file: its structure, and that no row refers to a missing one.
func (e *sqliteEngine) check(ctx context.Context, tx *Tx) error {
	found, err := listRows(ctx, tx, "check integrity", scanString, `PRAGMA integrity_check`)
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0] != "ok" {
		return &DamagedError{Path: e.path, Words: fmt.Sprintf("%q", found)}
	}
	orphans, err := listRows(ctx, tx, "check references", scanString, `SELECT "table" || ' row ' || coalesce(rowid, '?') || ' without its ' || parent FROM pragma_foreign_key_check`)
	if err != nil {
		return err
	}
	if len(orphans) > 0 {
		return &DamagedError{Path: e.path, Words: fmt.Sprintf("%q", orphans)}
	}
	return nil
}

// tables reads the schema.
func (*sqliteEngine) tables(ctx context.Context, tx *Tx) ([]schemaTable, error) {
	tables, err := listRows(ctx, tx, "list tables", func(row scanner) (t schemaTable, err error) { return t, row.Scan(&t.name) },
		`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ('goose_db_version', 'schemas', 'lock_key')`)
	for i := range tables {
		if err == nil {
			err = readTable(ctx, tx, &tables[i], `SELECT name, type, pk, 0 FROM pragma_table_info(?)`, `SELECT "from", "table" FROM pragma_foreign_key_list(?)`)
		}
	}
	return tables, err
}

// freeze does nothing: a write transaction keeps other writers out from its beginning.
func (*sqliteEngine) freeze(context.Context, *Tx, []schemaTable) error { return nil }

// countOn does nothing: the next id is the highest one plus 1.
func (*sqliteEngine) countOn(context.Context, *Tx, schemaTable) error { return nil }

// openFile opens a database for reading and writing, and creates it if it is missing. The caller
// must hold a lock: if two processes create the file at the same time, one would delete the other's
// WAL as a leftover.
func openFile(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	d, err := connect(ctx, path, url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
			"journal_mode(WAL)",
			"foreign_keys(1)",
			"synchronous(FULL)", // an intent is on disk before its effect
		},
	})
	if err != nil {
		return nil, writable(path, err)
	}
	return d, nil
}

// openFileReadOnly opens an existing database for reading.
func openFileReadOnly(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("look for the state database: %w", err)
	}
	d, err := connectReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open %s for reading: %w", path, explainFile(path, err))
	}
	return d, nil
}

// LockedError means that another program keeps a database locked for longer than any pass does.
type LockedError struct{ Path string }

func (e *LockedError) Error() string { return e.Path + " is locked by another program" }

// TryWrite commits a write that changes nothing to an existing file, as a pass commits its rows.
// A database that is locked for long is a *LockedError.
func TryWrite(ctx context.Context, path string) error {
	const patience = 3 * time.Second // passes write for milliseconds
	within, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	err := tryWrite(within, path, patience)
	code := (*sqlite.Error)(nil)
	if within.Err() != nil && ctx.Err() == nil || errors.As(err, &code) && code.Code()&0xff == sqlite3.SQLITE_BUSY {
		return &LockedError{Path: path}
	}
	if err != nil {
		return fmt.Errorf("write to %s: %w", path, explainFile(path, err))
	}
	return nil
}

func tryWrite(ctx context.Context, path string, patience time.Duration) (err error) {
	d, err := connect(ctx, path, url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.SQL.Close()) }()
	tx, err := d.SQL.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version)); err != nil {
		return err
	}
	return tx.Commit()
}

func connectReadOnly(ctx context.Context, path string) (*DB, error) {
	d, err := connect(ctx, path, readOnlyValues())
	if err != nil && isImmutable(path) {
		values := readOnlyValues()
		values.Set("immutable", "1")
		return connect(ctx, path, values)
	}
	return d, err
}

func readOnlyValues() url.Values {
	return url.Values{
		"mode":    {"ro"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())},
	}
}

// connect opens a pool and its first connection. The pragmas are in the DSN, because a PRAGMA
// statement would reach only one connection of the pool.
func connect(ctx context.Context, path string, q url.Values) (*DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	pool := sql.OpenDB(connector{dsn.String()})
	pool.SetMaxIdleConns(idleConns)
	if err := firstRead(ctx, pool); err != nil {
		return nil, errors.Join(interrupted(ctx, err), pool.Close())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &DB{SQL: pool, Path: path, engine: &sqliteEngine{path: path, info: info}}, nil
}

// firstRead makes the pool's first connection read the file. SQLite ignores busy_timeout while the
// first user of a file switches it to WAL, or the last one removes the WAL, so firstRead retries.
func firstRead(ctx context.Context, pool *sql.DB) error {
	for wait := time.Millisecond; ; wait *= 2 {
		var schemaVersion int64
		err := pool.QueryRowContext(ctx, `PRAGMA schema_version`).Scan(&schemaVersion)
		if code := (*sqlite.Error)(nil); !errors.As(err, &code) || code.Code()&0xff != sqlite3.SQLITE_BUSY || wait > busyTimeout/2 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prepareFile creates a missing database file, readable only by its owner. It deletes the leftovers
// of a deleted database, which would break the new one.
func prepareFile(path string) error {
	_, err := os.Stat(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the state folder: %w", err)
	}
	for _, suffix := range besides[1:] {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a deleted database left: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another pass was faster
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// writable returns the cause of a failed open if SQLite only reports "unable to open" or
// "readonly".
func writable(path string, err error) error {
	probe, perr := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if perr != nil {
		return fmt.Errorf("open %s: the state folder cannot be written: %w", path, errors.Join(perr, err))
	}
	return errors.Join(fmt.Errorf("open %s: %w", path, explainFile(path, err)), probe.Close(), os.Remove(probe.Name()))
}

// Snapshot writes a copy of a SQLite database to dst, which must not exist. It reads through its own
// read-only connection.
func (d *DB) Snapshot(ctx context.Context, dst string) error {
	source, err := connectReadOnly(ctx, d.Path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", d.Path, explainFile(d.Path, err))
	}
	err = snapshot(ctx, source, dst)
	return errors.Join(err, source.Close())
}

func snapshot(ctx context.Context, source *DB, dst string) error {
	f, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // VACUUM INTO accepts an empty file
	if err != nil {
		return fmt.Errorf("copy %s: %w", source.Path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy %s: %w", source.Path, err)
	}
	if _, err := source.SQL.ExecContext(ctx, `VACUUM INTO ?`, dst); err != nil {
		return fmt.Errorf("copy %s to %s: %w", source.Path, dst, explainFile(source.Path, interrupted(ctx, err)))
	}
	return nil
}
