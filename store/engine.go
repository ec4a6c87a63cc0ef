package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// engine is everything that SQLite and PostgreSQL do differently. Both get the same statements.
type engine interface {
	// shared reports whether other machines may have the same database open.
	shared() bool
	// session returns how a pass connects for its session; nil: it needs none.
	session() *pgx.ConnConfig
	// locks is a query for the locks of all sessions; empty: there are none.
	locks() string
	// version reads the schema's version, and the columns of all tables as "table.column"; 0: the database
	// has no schema yet.
	version(ctx context.Context, pool *sql.DB) (have int64, columns string, err error)
	// answer reads the answers to all questions in one state of the database; false: it does not, and
	// each is a read of its own.
	answer(ctx context.Context, pool *sql.DB, asked []*question) (bool, error)
	// up runs the migrations on a machine. Several may try at the same time.
	up(ctx context.Context, pool *sql.DB, migrations fs.FS, machine string) error
	// replaceBy says what to do with a database that cannot be used any more.
	replaceBy() string
	// options are those of a transaction that reads, or reads and writes.
	options(readOnly bool) *sql.TxOptions
	// statement returns a statement and its arguments as the driver takes them.
	statement(query string, args []any) (string, []any)
	// again reports whether a transaction failed only because of another one, so that its function
	// is to run again.
	again(err error) bool
	// explain says what an error means, and what to do about it.
	explain(err error) error
	// unopened explains an error of an attempt to open for writing.
	unopened(err error) error
	// inPlace fails if what is written would be lost.
	inPlace() error
	// tables returns the tables of the schema, without those about the schema itself.
	tables(ctx context.Context, tx *Tx) ([]schemaTable, error)
	// freeze keeps everybody else from writing until the transaction ends, or fails with ErrInUse.
	freeze(ctx context.Context, tx *Tx, tables []schemaTable) error
	// countOn has the next row of a table get an id after those that it has.
	countOn(ctx context.Context, tx *Tx, t schemaTable) error
	// check has the engine check everything that it stores.
	check(ctx context.Context, tx *Tx) error
}

// Options are what Open needs besides the path.
type Options struct {
	Now func() time.Time // required
	// Redact removes secrets from reasons and errors before they are stored; nil removes none.
	Redact func(string) string
	// RunTwice makes Update run each function twice and commit only the second run, and View and Tx.Ahead
	// run theirs with rows that are missing first, as on a server. Tests set it, to find functions whose
	// last run differs: they append to, count in or read an outer value that an earlier run changed.
	RunTwice bool
	// ClaimedOnly makes it an error to move a turn, a run, an action or a merge without a Claim. Tests
	// of whole passes set it.
	ClaimedOnly bool
	// Machine is the name of the machine that this program runs on: what it holds, runs and
	// measures is stored with the name.
	Machine string
	// Session has Open connect for the session of a pass at the same time, see DB.Session.
	Session bool
	// Shared makes the database count as one that other machines have, too. Tests set it, to play
	// several machines on one SQLite file.
	Shared bool
}

// Open opens the state database for reading and writing, and migrates its schema. at is the path of
// a SQLite file, which it creates if it is missing: the caller must hold tick.lock. Or at is the URL
// of an existing PostgreSQL database.
func Open(ctx context.Context, at string, opt Options) (*DB, error) { return open(ctx, at, opt, nil) }

// open is Open with other migrations than the embedded ones; nil: those.
func open(ctx context.Context, at string, opt Options, migrations fs.FS) (*DB, error) {
	if opt.Now == nil {
		return nil, errors.New("open the state database: no clock")
	}
	d, migrations, err := opened(ctx, at, migrations, openFile, openServer)
	if err != nil {
		return nil, err
	}
	if opt.Session {
		d.dial(ctx)
	}
	if err := d.migrate(ctx, migrations, opt.Machine); err != nil {
		return nil, errors.Join(d.engine.unopened(err), d.Close())
	}
	return d.writeBy(opt), nil
}

// writeBy makes a connected database one that is written to.
func (d *DB) writeBy(opt Options) *DB {
	d.now, d.redact, d.writer, d.runTwice, d.claimed = opt.Now, opt.Redact, make(chan struct{}, 1), opt.RunTwice, opt.ClaimedOnly
	d.machine, d.shared = opt.Machine, opt.Shared
	return d
}

// OpenReadOnly opens an existing state database for reading, and creates none. It returns false if
// there is no file, or no schema because its creator died before the first table was created.
func OpenReadOnly(ctx context.Context, at string) (*DB, bool, error) {
	return openReadOnly(ctx, at, nil)
}

func openReadOnly(ctx context.Context, at string, migrations fs.FS) (*DB, bool, error) {
	d, migrations, err := opened(ctx, at, migrations, openFileReadOnly, openServerReadOnly)
	if errors.Is(err, fs.ErrNotExist) && !isServer(at) { // a server's socket may be missing
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	d.readOnly = true
	v, err := d.versions(ctx, migrations)
	if err == nil {
		err = d.checkUsable(v)
	}
	switch {
	case err != nil:
	case v.have == 0:
		return nil, false, d.SQL.Close()
	case v.have < v.last:
		err = fmt.Errorf("%s was %w (schema %d, this program needs %d): run gh mergexo tick once", d.Path, ErrOlder, v.have, v.last)
	default:
		return d, true, nil
	}
	return nil, false, errors.Join(d.engine.explain(err), d.SQL.Close())
}

// OpenScratch opens a copy of a database for a dry run: what is written to it is lost when it is closed,
// or with dir, an empty folder. Where there is no database yet the copy is empty.
func OpenScratch(ctx context.Context, at, dir string, opt Options) (*DB, error) {
	to := filepath.Join(dir, "state.db")
	if isServer(at) {
		if db, ok, err := openServerScratch(ctx, at, opt); ok || err != nil {
			return db, err
		}
		return Open(ctx, to, opt) // empty
	}
	db, ok, err := OpenReadOnly(ctx, at)
	if err != nil {
		return nil, err
	}
	if ok {
		if err := errors.Join(db.Snapshot(ctx, to), db.Close()); err != nil {
			return nil, err
		}
	}
	return Open(ctx, to, opt)
}

// opened opens a file or a server's database, whichever at is, and returns its migrations.
func opened(ctx context.Context, at string, migrations fs.FS, file, server func(context.Context, string) (*DB, error)) (*DB, fs.FS, error) {
	open := file
	if isServer(at) {
		open = server
	}
	d, err := open(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	if migrations == nil {
		if migrations, err = schema(); err != nil {
			return nil, nil, errors.Join(err, d.SQL.Close())
		}
	}
	return d, migrations, nil
}

// versions are the schema versions of a database and of the migrations.
type versions struct {
	have   int64  // the database's; 0: it has no schema yet
	first  int64  // the oldest that can be migrated
	last   int64  // the newest migration
	oldest int64  // that a program must know to use the database, if the database's is newer; 0: it does not say
	differ string // how the columns of the database differ from those of its version
}

// versions reads the schema's version with one small read, so that goose is started only if a
// migration is needed.
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
	for range 2 { // another program may migrate between the reads of columns and version
		var columns string
		if v.have, columns, err = d.engine.version(ctx, d.SQL); err != nil {
			return v, interrupted(ctx, err)
		}
		if v.differ = differences(v.have, columns); v.differ == "" {
			break
		}
	}
	if v.have <= v.last {
		return v, nil
	}
	row := d.SQL.QueryRowContext(ctx, fmt.Sprintf(`SELECT COALESCE(MAX(oldest), 0) FROM schemas WHERE number = %d`, v.have))
	return v, interrupted(ctx, row.Scan(&v.oldest))
}

// schemaVersion is a query for the schema's version.
const schemaVersion = `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`

func versionOf(migration string) (int64, error) {
	digits, _, _ := strings.Cut(migration, "_")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the migrations' names: %w", err)
	}
	return v, nil
}

// checkUsable refuses a database that can neither be used as it is nor be migrated.
func (d *DB) checkUsable(v versions) error {
	switch {
	case v.have > v.last && (v.oldest == 0 || v.oldest > v.last):
		return d.unusable(upgradeBy(os.Executable()), fmt.Errorf("%s was %w (schema %d, for programs that know %d or newer; this one knows %d)",
			d.Path, errNewer, v.have, cmp.Or(v.oldest, v.have), v.last))
	case v.have != 0 && v.have < v.first:
		return d.unusable(d.engine.replaceBy()+"; the next pass fills a new one from GitHub",
			fmt.Errorf("%s was %w (schema %d, the oldest that this program reads is %d)", d.Path, errTooOld, v.have, v.first))
	case v.differ != "":
		return d.unusable(d.engine.replaceBy()+"; the next pass fills a new one from GitHub",
			fmt.Errorf("%s was %w (not all columns are those of schema %d: %s)", d.Path, errUnreleased, v.have, v.differ))
	}
	return nil
}

// unusable is why this program does not use a database, with what to do about it.
func (d *DB) unusable(do string, err error) error {
	if d.engine.shared() {
		err = &ServerError{err.Error(), err}
	}
	return &work.MachineError{Err: err, Do: do}
}

// migrate migrates the schema, unless it is new enough. If two programs try at the same time, one waits
// for the other, or fails a migration and reads the version again.
func (d *DB) migrate(ctx context.Context, migrations fs.FS, machine string) error {
	tried := int64(-1)
	for {
		v, err := d.versions(ctx, migrations)
		if err == nil {
			err = d.checkUsable(v)
		}
		if err != nil || v.have >= v.last {
			return err
		}
		err = d.engine.up(ctx, d.SQL, migrations, machine)
		if err != nil && (v.have == tried || errors.Is(err, errMigrating)) {
			return fmt.Errorf("migrate from schema %d to %d: %w", v.have, v.last, interrupted(ctx, err))
		}
		tried = v.have
	}
}

// upBy runs the migrations by goose.
func upBy(ctx context.Context, dialect goose.Dialect, pool *sql.DB, migrations fs.FS) error {
	p, err := goose.NewProvider(dialect, pool, migrations, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx) // not closed, because that would close the pool
	return err
}

// upgradeBy returns the command that brings a newer program. In a clone of the source, where the launcher builds
// bin/gh-mergexo, gh upgrades nothing.
func upgradeBy(program string, err error) string {
	if at, linkErr := filepath.EvalSymlinks(program); linkErr == nil {
		program = at
	}
	root := filepath.Dir(filepath.Dir(program))
	if err != nil || filepath.Base(filepath.Dir(program)) != "bin" {
		return "gh extension upgrade mergexo"
	}
	for _, name := range []string{"go.mod", "gh-mergexo"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			return "gh extension upgrade mergexo"
		}
	}
	return "git -C " + root + " pull"
}
