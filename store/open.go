package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var embedded embed.FS

// schema gives the migrations of this program.
func schema() (fs.FS, error) { return fs.Sub(embedded, "migrations") }

// Options are what Open needs besides the path.
type Options struct {
	Now func() time.Time // required
	// Redact takes secrets out of reasons and errors before they are stored; nil
	// leaves them as they are.
	Redact func(string) string
}

// How long a connection waits for another's write lock, and how many
// connections stay open for the workers.
const (
	busyTimeout = 10 * time.Second
	idleConns   = 4
)

// Open opens the state database for reading and writing, makes it when it is
// missing and brings its schema up to date. The caller holds tick.lock: of two
// that make the file at once, one would remove the other's WAL as a leftover.
func Open(ctx context.Context, path string, opt Options) (*DB, error) {
	migrations, err := schema()
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	return open(ctx, path, opt, migrations)
}

func open(ctx context.Context, path string, opt Options, migrations fs.FS) (*DB, error) {
	if opt.Now == nil {
		return nil, errors.New("open the state database: no clock")
	}
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
	d.now, d.redact = opt.Now, opt.Redact
	if err := d.migrate(ctx, migrations); err != nil {
		return nil, errors.Join(writable(path, err), d.sql.Close())
	}
	return d, nil
}

// OpenReadOnly opens an existing state database for reading. It is false when
// there is none yet: the file is missing, or the pass that made it died before
// its first table. It creates no database.
func OpenReadOnly(ctx context.Context, path string) (*DB, bool, error) {
	migrations, err := schema()
	if err != nil {
		return nil, false, fmt.Errorf("open the state database: %w", err)
	}
	return openReadOnly(ctx, path, migrations)
}

func openReadOnly(ctx context.Context, path string, migrations fs.FS) (*DB, bool, error) {
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
		return nil, false, fmt.Errorf("open %s for reading: %w", path, noRoom(err))
	}
	d.readOnly = true
	v, err := d.versions(ctx, migrations)
	if err == nil {
		err = d.foreign(v)
	}
	switch {
	case err != nil:
	case v.have == 0:
		return nil, false, d.sql.Close()
	case v.have < v.last:
		err = fmt.Errorf("%s was %w (schema %d, this program needs %d): run gh mergexo tick once", path, ErrOlder, v.have, v.last)
	default:
		return d, true, nil
	}
	return nil, false, errors.Join(err, d.sql.Close())
}

func connectReadOnly(ctx context.Context, path string) (*DB, error) {
	d, err := connect(ctx, path, readOnlyValues())
	if err != nil && frozen(path) {
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

// connect opens a pool and its first connection. The pragmas are in the DSN:
// sent by hand they would reach one connection of the pool.
func connect(ctx context.Context, path string, q url.Values) (*DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a drive letter
	}
	dsn := url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxIdleConns(idleConns)
	if err := firstRead(ctx, pool); err != nil {
		return nil, errors.Join(interrupted(ctx, err), pool.Close())
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &DB{sql: pool, path: path, file: info, writer: make(chan struct{}, 1)}, nil
}

// firstRead makes the pool's first connection touch the file. SQLite heeds no
// busy_timeout while the file's first user turns it to WAL or its last one
// puts the WAL away, so that is waited for here.
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

// prepareFile makes a missing database file, readable by its owner only. What
// a deleted database left beside it would fail its successor.
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
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what a deleted database left: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another pass was quicker
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// writable gives the reason for a failed open where SQLite only says "unable
// to open" or "readonly".
func writable(path string, err error) error {
	if errors.Is(err, ErrNewer) || errors.Is(err, ErrTooOld) {
		return err
	}
	probe, perr := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if perr != nil {
		return fmt.Errorf("open %s: the state folder cannot be written: %w", path, errors.Join(perr, err))
	}
	return errors.Join(fmt.Errorf("open %s: %w", path, noRoom(err)), probe.Close(), os.Remove(probe.Name()))
}

// versions are those of a database and of this program's migrations.
type versions struct {
	have  int64 // the database's; 0 when it has no schema yet
	first int64 // the oldest that a migration leads on from
	last  int64 // what this program was written for
}

// versions reads the schema's version. It costs one small read, so that goose is
// needed only when there is something to do.
func (d *DB) versions(ctx context.Context, migrations fs.FS) (v versions, err error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return versions{}, err
	}
	if v.first, err = versionOf(slices.Min(names)); err != nil {
		return versions{}, err
	}
	if v.last, err = versionOf(slices.Max(names)); err != nil {
		return versions{}, err
	}
	var tables int
	row := d.sql.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'`)
	if err := row.Scan(&tables); err != nil || tables == 0 {
		return v, interrupted(ctx, err)
	}
	row = d.sql.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied = 1`)
	return v, interrupted(ctx, row.Scan(&v.have))
}

func versionOf(migration string) (int64, error) {
	digits, _, _ := strings.Cut(migration, "_")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the migrations' names: %w", err)
	}
	return v, nil
}

// foreign refuses a database that this program cannot bring up to date.
func (d *DB) foreign(v versions) error {
	switch {
	case v.have > v.last:
		return fmt.Errorf("%s was %w (schema %d, this program knows %d): gh extension upgrade mergexo", d.path, ErrNewer, v.have, v.last)
	case v.have != 0 && v.have < v.first:
		return fmt.Errorf("%s was %w (schema %d, the oldest that this program reads is %d): move the file away; the next pass makes a new one from what is on GitHub",
			d.path, ErrTooOld, v.have, v.first)
	}
	return nil
}

// migrate brings the schema up to date. Of two programs that try at the same
// time one loses a migration to the other, and looks again.
func (d *DB) migrate(ctx context.Context, migrations fs.FS) error {
	tried := int64(-1)
	for {
		v, err := d.versions(ctx, migrations)
		if err == nil {
			err = d.foreign(v)
		}
		if err != nil || v.have == v.last {
			return err
		}
		err = d.up(ctx, migrations)
		if err != nil && v.have == tried {
			return fmt.Errorf("migrate from schema %d to %d: %w", v.have, v.last, interrupted(ctx, err))
		}
		tried = v.have
	}
}

func (d *DB) up(ctx context.Context, migrations fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, d.sql, migrations,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx) // not closed: that would close the pool
	return err
}
