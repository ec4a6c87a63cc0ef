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
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Databases of every schema since the first are in testdata, as
// schema-NNNN.sql: rows in every table, of a database in mid-life. A migration
// comes with the fixture of the schema before it. This writes a missing one,
// from the fixture before it:
//
//	MERGEXO_FIXTURE=21 go test ./store -run TestMigrationsKeepTheData
//
// and what its new columns and tables hold is then filled in by hand.
func fixture(version int64) string {
	return filepath.Join("testdata", fmt.Sprintf("schema-%04d.sql", version))
}

// versionsOf are the schemas of a program, oldest first.
func versionsOf(t testing.TB, migrations fs.FS) []int64 {
	t.Helper()
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	var all []int64
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	slices.Sort(all)
	return all
}

func ours(t testing.TB) fs.FS {
	t.Helper()
	migrations, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	return migrations
}

// upTo is the schema of a program that knew no later migration.
func upTo(t testing.TB, version int64) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	names, err := fs.Glob(ours(t), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		if v, _ := strconv.ParseInt(digits, 10, 64); v > version {
			continue
		}
		text, err := fs.ReadFile(ours(t), name)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: text}
	}
	return m
}

// later is the schema of a program one migration ahead of this one.
func later(t *testing.T, sql string) fstest.MapFS {
	t.Helper()
	all := versionsOf(t, ours(t))
	m := upTo(t, all[len(all)-1])
	m[fmt.Sprintf("%05d_later.sql", all[len(all)-1]+1)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + sql)}
	return m
}

// oldDatabase makes a database as a program of that schema left it.
func oldDatabase(t testing.TB, version int64) string {
	t.Helper()
	rows, err := os.ReadFile(fixture(version))
	if err != nil {
		t.Fatalf("no database of schema %d to migrate from; migrate_test.go says how to write one: %v", version, err)
	}
	path := newPath(t)
	d, err := open(t.Context(), path, Options{Now: clock}, upTo(t, version))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.SQL.ExecContext(t.Context(), string(rows)); err != nil {
		t.Fatalf("%s: %v", fixture(version), err)
	}
	if err := errors.Join(d.Check(t.Context()), d.Close()); err != nil {
		t.Fatalf("%s: %v", fixture(version), err)
	}
	return path
}

func TestMigrationsKeepTheData(t *testing.T) {
	all := versionsOf(t, ours(t))
	if v, err := strconv.ParseInt(os.Getenv("MERGEXO_FIXTURE"), 10, 64); err == nil {
		writeFixture(t, v)
	}
	newest := all[len(all)-1]
	for i, version := range all {
		// The newest schema has a fixture at the latest when it has a successor.
		if _, err := os.Stat(fixture(version)); i > 0 && version == newest && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		t.Run(fmt.Sprint("from ", version), func(t *testing.T) { migrateFrom(t, version, ours(t)) })
		// Of the newest it is tried with a migration that nobody needs yet.
		t.Run(fmt.Sprint("from ", version, " to a later one"), func(t *testing.T) {
			migrateFrom(t, version, later(t, `ALTER TABLE work_items ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';
CREATE TABLE colours (name TEXT PRIMARY KEY) STRICT;
INSERT INTO colours SELECT DISTINCT colour FROM work_items;
CREATE INDEX work_items_colour ON work_items (colour);`))
		})
	}
}

func migrateFrom(t *testing.T, version int64, migrations fs.FS) {
	path := oldDatabase(t, version)
	before := contents(t, path)
	for table, rows := range before {
		if len(rows) == 0 {
			t.Errorf("%s has no row for %s", fixture(version), table)
		}
	}
	newest := slices.Max(versionsOf(t, migrations))
	reader, ok, err := openReadOnly(t.Context(), path, migrations)
	if version < newest && !errors.Is(err, ErrOlder) || version == newest && !ok {
		t.Errorf("a reader: %v, %v", ok, err)
	}
	if ok {
		_ = reader.Close()
	}
	d, err := open(t.Context(), path, Options{Now: clock}, migrations)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	after := contents(t, path)
	for table, rows := range before {
		rowsOfVersion(t, table, rows, after[table])
	}
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
	livesOn(t, d)
	if err := d.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// rowsOfVersion compares rows in the columns that they had before.
func rowsOfVersion(t *testing.T, table string, before, after []map[string]string) {
	t.Helper()
	if len(before) != len(after) {
		t.Fatalf("%s had %d rows and has %d", table, len(before), len(after))
	}
	for i, row := range before {
		for column, value := range row {
			if after[i][column] != value {
				t.Errorf("%s row %d: %s was %s and is %s", table, i+1, column, value, after[i][column])
			}
		}
	}
}

// contents are all rows of all tables, by column, as SQL would write them.
func contents(t testing.TB, path string) map[string][]map[string]string {
	t.Helper()
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "mode=ro"}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	d := &DB{SQL: pool, Path: path, engine: &sqliteEngine{path: path}, readOnly: true}
	all := map[string][]map[string]string{}
	err = d.View(t.Context(), func(tx *Tx) error {
		tables, err := listRows(t.Context(), tx, "tables", scanString,
			`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' AND name NOT IN ('schemas', 'lock_key')`)
		for _, table := range tables {
			if err == nil {
				all[table], err = rowsOf(t.Context(), tx, table)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rowsOf(ctx context.Context, tx *Tx, table string) ([]map[string]string, error) {
	columns, err := listRows(ctx, tx, "columns", scanString, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	return listRows(ctx, tx, "rows of "+table, func(row scanner) (map[string]string, error) {
		cells, into := make([]string, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		named := map[string]string{}
		err := row.Scan(into...)
		for i, c := range columns {
			named[c] = cells[i]
		}
		return named, err
	}, `SELECT quote(`+strings.Join(columns, `), quote(`)+`) FROM `+table+` ORDER BY `+strings.Join(columns, `, `))
}

// writeFixture writes what the fixture before becomes by its migration.
func writeFixture(t *testing.T, version int64) {
	t.Helper()
	all := versionsOf(t, ours(t))
	path := oldDatabase(t, all[slices.Index(all, version)-1])
	if err := os.WriteFile(fixture(version), []byte(asSQL(t, path, upTo(t, version))), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %s: give its new columns and tables what a database in use has in them", fixture(version))
}

// asSQL migrates a database and returns statements that insert all its rows, those that others refer to first.
func asSQL(t *testing.T, path string, migrations fs.FS) string {
	t.Helper()
	d, err := open(t.Context(), path, Options{Now: clock}, migrations)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tables := inTx(t, d, func(tx *Tx) ([]schemaTable, error) {
		tables, err := d.engine.tables(t.Context(), tx)
		if err != nil {
			return nil, err
		}
		return parentsFirst(tables)
	})
	rows := contents(t, path)
	var out strings.Builder
	for _, table := range tables {
		columns := table.columnNames()
		for _, row := range rows[table.name] {
			values := make([]string, len(columns))
			for i, c := range columns {
				values[i] = row[c]
			}
			fmt.Fprintf(&out, "INSERT INTO %s (%s) VALUES (%s);\n", table.name, strings.Join(columns, ", "), strings.Join(values, ", "))
		}
	}
	return out.String()
}

// What is written as the fixture of a schema can be read as that.
func TestFixturesCanBeWritten(t *testing.T) {
	all := versionsOf(t, ours(t))
	next := later(t, `ALTER TABLE work_items ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';`)
	from := oldDatabase(t, all[len(all)-1])
	text := asSQL(t, from, next)
	to := newPath(t)
	d, err := open(t.Context(), to, Options{Now: clock}, next)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if _, err := d.SQL.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	equal(t, contents(t, to), contents(t, from))
}

// livesOn has a migrated database serve a pass: what waited still waits, what
// was sent is still known, and state moves on from where it stood.
func livesOn(t *testing.T, d *DB) {
	ctx := t.Context()
	update(t, d, func(tx *Tx) error {
		repos, err := tx.ListRepos(ctx)
		if err != nil || len(repos) != 2 {
			t.Fatalf("repositories %+v, %v", repos, err)
		}
		repo := repos[slices.IndexFunc(repos, func(r work.Repo) bool { return r.NodeID == "R_1" })]
		pending, err := tx.ListPendingEvents(ctx, repo.ID)
		if err != nil || !slices.Equal(keys(pending), []string{"20:review:301:h1", "20:issue:401:h2", "20:summary:501:h3"}) {
			t.Errorf("pending %q, %v", keys(pending), err)
		}
		unfinished, err := tx.ListUnfinishedTurns(ctx)
		if err != nil || len(unfinished) != 2 || unfinished[0].Step != work.StepPushed || !unfinished[1].Blocked {
			t.Errorf("unfinished turns %+v, %v", unfinished, err)
		}
		actions, err := tx.ListTurnActions(ctx, unfinished[0].ID)
		if err != nil || len(actions) != 2 || actions[0].State != work.ActionSent || actions[0].Sends != 2 {
			t.Errorf("actions %+v, %v", actions, err)
		}
		return goOn(ctx, tx, unfinished[0], actions)
	})
	n, err := d.Prune(ctx, time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || n != 6 { // of the item that was completed long ago: event, action, turn, run, session, history
		t.Errorf("%d rows pruned, %v; want 6", n, err)
	}
}

// goOn closes a turn as a pass would.
func goOn(ctx context.Context, tx *Tx, u work.Turn, actions []work.Action) error {
	for _, a := range actions {
		if err := tx.MarkSent(ctx, a.ID, t0); err != nil {
			return err
		}
		if err := tx.MarkApplied(ctx, a.ID, "1", "", t0); err != nil {
			return err
		}
	}
	if err := tx.AdvanceTurn(ctx, u.ID, work.StepPushed, work.StepApplied, t0); err != nil {
		return err
	}
	if err := tx.FinishTurnEvents(ctx, u.ID, "answered", t0); err != nil {
		return err
	}
	if err := tx.MoveItem(ctx, u.ItemID, []work.State{work.StateAwaitingFeedback}, work.StateRunning, work.Reason{}, "", t0); err != nil {
		return err
	}
	return tx.EndTurn(ctx, u.ID, work.StepApplied, work.StepDone, "", t0)
}

func keys(events []work.Event) []string {
	var all []string
	for _, e := range events {
		all = append(all, e.Key)
	}
	return all
}

func TestNewerSchemaIsRefused(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	if _, err := d.SQL.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`); err != nil {
		t.Fatal(err)
	}
	all := versionsOf(t, ours(t))
	_, err := Open(t.Context(), path, Options{Now: clock})
	if !errors.Is(err, errNewer) {
		t.Errorf("Open: %v", err)
	}
	want := fmt.Sprintf("%s was written by a newer gh mergexo (schema 99, for programs that know 99 or newer; this one knows %d); gh extension upgrade mergexo", path, all[len(all)-1])
	if err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
	if _, _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, errNewer) {
		t.Errorf("OpenReadOnly: %v", err)
	}
}

// Schemas from before the first one are of programs in development: nothing leads
// on from them, and the message says what to do.
func TestSchemaFromBeforeTheFirstIsRefused(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	if _, err := d.SQL.ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id > 0; INSERT INTO goose_db_version (version_id, is_applied) VALUES (19, 1)`); err != nil {
		t.Fatal(err)
	}
	first := versionsOf(t, ours(t))[0]
	want := fmt.Sprintf("%s was written by a gh mergexo from before its first release (schema 19, the oldest that this program reads is %d); "+
		"mv %q %q; the next pass fills a new one from GitHub", path, first, path, path+".old")
	if _, err := Open(t.Context(), path, Options{Now: clock}); !errors.Is(err, errTooOld) || err.Error() != want {
		t.Errorf("Open: %v, want %s", err, want)
	}
	if _, _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, errTooOld) || err.Error() != want {
		t.Errorf("OpenReadOnly: %v, want %s", err, want)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	addRepo(t, openAt(t, path))
}

func TestMigrationKeepsWhatIsThere(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	r := addRepo(t, d)
	next := later(t, `CREATE TABLE later (id INTEGER PRIMARY KEY);`)
	if _, _, err := openReadOnly(t.Context(), path, next); !errors.Is(err, ErrOlder) {
		t.Errorf("a reader of an older file: %v", err)
	}
	up, err := open(t.Context(), path, Options{Now: clock}, next)
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	equal(t, inTx(t, up, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }), []work.Repo{r})
	if _, err := up.SQL.ExecContext(t.Context(), `INSERT INTO later (id) VALUES (1)`); err != nil {
		t.Error(err)
	}
}

func TestBrokenMigrationLeavesTheOldSchema(t *testing.T) {
	path := newPath(t)
	addRepo(t, openAt(t, path))
	_, err := open(t.Context(), path, Options{Now: clock}, later(t, "CREATE TABLE half (id INTEGER);\nCREATE NONSENSE;"))
	if err == nil || !strings.Contains(err.Error(), "migrate from schema") {
		t.Errorf("broken migration: %v", err)
	}
	d := openAt(t, path)
	got := inTx(t, d, func(tx *Tx) ([]string, error) {
		return listRows(t.Context(), tx, "tables", scanString, `SELECT name FROM sqlite_master WHERE name = 'half'`)
	})
	if len(got) != 0 {
		t.Error("half of the migration stayed")
	}
}

// A deletion of a branch that an earlier version planned is not sent, and nothing waits for it.
func TestPlannedDeletionsOfBranchesEnd(t *testing.T) {
	path := oldDatabase(t, 23)
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	planned, err := pool.ExecContext(t.Context(), `UPDATE actions SET kind = 'delete_branch', state = 'planned', not_before = 99, turn_id = NULL WHERE id = (SELECT MIN(id) FROM actions)`)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := planned.RowsAffected(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := Open(t.Context(), path, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var state string
	var notBefore int64
	if err := d.SQL.QueryRowContext(t.Context(), `SELECT state, not_before FROM actions WHERE kind = 'delete_branch'`).Scan(&state, &notBefore); err != nil || state != string(work.ActionDropped) || notBefore != 0 {
		t.Errorf("%q, not before %d: %v", state, notBefore, err)
	}
}
