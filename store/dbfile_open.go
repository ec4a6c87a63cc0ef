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

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a connection waits for another's write lock; idleConns is how many
// connections stay open for the workers.
const (
	busyTimeout = 10 * time.Second
	idleConns   = 4
)

// openFile opens a database for reading and writing, creates it if it is missing and migrates its
// schema. The caller must hold a lock: if two processes create the file at the same time, one would
// delete the other's WAL as a leftover.
func openFile(ctx context.Context, path string, migrations fs.FS) (*File, error) {
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
	if err := d.migrate(ctx, migrations); err != nil {
		return nil, errors.Join(writable(path, err), d.SQL.Close())
	}
	return d, nil
}

// openFileReadOnly opens an existing database for reading. It returns false if the file is missing,
// or if its creator died before the first table was created. It creates no database.
func openFileReadOnly(ctx context.Context, path string, migrations fs.FS) (*File, bool, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, false, fmt.Errorf("open the state database: %w", err)
	}
	_, err = os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look for the state database: %w", err)
	}
	d, err := connectReadOnly(ctx, path)
	if err != nil {
		return nil, false, fmt.Errorf("open %s for reading: %w", path, explainFile(path, err))
	}
	v, err := d.versions(ctx, migrations)
	if err == nil {
		err = d.checkMigratable(v)
	}
	switch {
	case err != nil:
	case v.have == 0:
		return nil, false, d.SQL.Close()
	case v.have < v.last:
		err = fmt.Errorf("%s was %w (schema %d, this program needs %d): run gh mergexo tick once", path, ErrOlder, v.have, v.last)
	default:
		return d, true, nil
	}
	return nil, false, errors.Join(explainFile(path, err), d.SQL.Close())
}

// LockedError means that another program keeps a database locked for longer than any pass does.
type LockedError struct{ Path string }

func (e *LockedError) Error() string { return e.Path + " is locked by another program" }

// TryWrite commits a write that changes nothing to an existing database, as a pass commits its rows.
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

func connectReadOnly(ctx context.Context, path string) (*File, error) {
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
func connect(ctx context.Context, path string, q url.Values) (*File, error) {
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
	return &File{SQL: pool, Path: path, info: info}, nil
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
	if errors.Is(err, errNewer) || errors.Is(err, errTooOld) {
		return err
	}
	probe, perr := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if perr != nil {
		return fmt.Errorf("open %s: the state folder cannot be written: %w", path, errors.Join(perr, err))
	}
	return errors.Join(fmt.Errorf("open %s: %w", path, explainFile(path, err)), probe.Close(), os.Remove(probe.Name()))
}
