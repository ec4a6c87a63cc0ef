package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// release is the schema of a program: that of this one, and changes. The
// first change is one migration, the second one another.
func release(t testing.TB, changes ...string) fstest.MapFS {
	t.Helper()
	own := ours(t)
	m := fstest.MapFS{}
	names, err := fs.Glob(own, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(own, name)
		if err != nil {
			t.Fatal(err)
		}
		m[name] = &fstest.MapFile{Data: text}
	}
	last := slices.Max(versionsOf(t, own))
	for i, change := range changes {
		m[fmt.Sprintf("%05d_later.sql", last+1+int64(i))] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + change)}
	}
	return m
}

// usableBy is what a migration says of the programs that may use the database, after the newest schema
// of this program.
func usableBy(t testing.TB, after, oldest int64) string {
	own := slices.Max(versionsOf(t, ours(t)))
	return fmt.Sprintf("INSERT INTO schemas (number, oldest) VALUES (%d, %d);", own+after, own+oldest)
}

func openAs(t testing.TB, at string, migrations fs.FS) (*DB, error) {
	t.Helper()
	d, err := open(t.Context(), at, Options{Now: clock, Machine: "box"}, migrations)
	if err == nil {
		t.Cleanup(func() { _ = d.Close() })
	}
	return d, err
}

// During a roll-out, programs one release back use the database, also with a pass that has it open. It
// refuses programs two releases back, in words.
func TestAProgramOneReleaseBackStillRuns(t *testing.T) {
	at := newAt(t)
	expand := `ALTER TABLE work_items ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'; CREATE TABLE colours (name TEXT PRIMARY KEY);` + usableBy(t, 1, 0)
	contract := `ALTER TABLE work_items DROP COLUMN colour;` + usableBy(t, 2, 1)
	first, second, third := release(t), release(t, expand), release(t, expand, contract)
	running, err := openAs(t, at, first)
	if err != nil {
		t.Fatal(err)
	}
	repo := addRepo(t, running)
	if _, err := openAs(t, at, second); err != nil {
		t.Fatal(err)
	}
	late, err := openAs(t, at, first)
	if err != nil {
		t.Fatalf("one release back: %v", err)
	}
	for number, d := range []*DB{running, late} {
		item := addItem(t, d, work.Item{RepoID: repo.ID, Number: number + 1})
		equal(t, getItem(t, d, item.ID).Number, number+1)
	}
	reader, ok, err := openReadOnly(t.Context(), at, first)
	if err != nil || !ok {
		t.Fatalf("a reader one release back: %v, %v", ok, err)
	}
	_ = reader.Close()
	copied, err := OpenScratch(t.Context(), at, t.TempDir(), Options{Now: clock})
	if err != nil {
		t.Fatalf("a dry run one release back: %v", err)
	}
	_ = copied.Close()
	if _, err := openAs(t, at, third); err != nil {
		t.Fatal(err)
	}
	own := slices.Max(versionsOf(t, ours(t)))
	words := fmt.Sprintf("was written by a newer gh mergexo (schema %d, for programs that know %d or newer; this one knows %d); gh extension upgrade mergexo", own+2, own+1, own)
	if _, err := openAs(t, at, first); !errors.Is(err, errNewer) || !strings.HasSuffix(err.Error(), words) {
		t.Errorf("two releases back: %v", err)
	}
	if _, _, err := openReadOnly(t.Context(), at, first); !errors.Is(err, errNewer) {
		t.Errorf("a reader two releases back: %v", err)
	}
	if _, err := openAs(t, at, second); err != nil {
		t.Errorf("one release back, after the second migration: %v", err)
	}
	if _, err := openAs(t, at, release(t, expand, contract, `CREATE TABLE silent (id INTEGER PRIMARY KEY);`)); err != nil {
		t.Fatal(err)
	}
	if _, err := openAs(t, at, third); !errors.Is(err, errNewer) {
		t.Errorf("a migration that does not say who may use the database: %v", err)
	}
}

// A migration names the oldest schema that a program must know: what that program reads and writes is
// still there, and its rows are still taken.
func TestMigrationsLeaveInWhatTheySay(t *testing.T) {
	all := versionsOf(t, ours(t))
	for _, version := range all {
		path := newPath(t)
		d, err := openAs(t, path, upTo(t, version))
		if err != nil {
			t.Fatal(err)
		}
		var oldest int64
		if err := d.SQL.QueryRowContext(t.Context(), `SELECT COALESCE(MAX(oldest), 0) FROM schemas WHERE number = ?`, version).Scan(&oldest); err != nil || !slices.Contains(all, oldest) || oldest > version {
			t.Fatalf("migration %d says that programs must know schema %d, %v", version, oldest, err)
		}
		before, err := openAs(t, newPath(t), upTo(t, oldest))
		if err != nil {
			t.Fatal(err)
		}
		if misses := takesAway(t, before, d); len(misses) > 0 {
			t.Errorf("migration %d lets programs in that miss something: %q", version, misses)
		}
	}
	for change, want := range map[string][]string{
		`ALTER TABLE machines ADD COLUMN colour TEXT NOT NULL DEFAULT ''`: nil,
		`ALTER TABLE machines ADD COLUMN colour TEXT`:                     nil,
		`CREATE TABLE colours (name TEXT NOT NULL)`:                       nil,
		`CREATE INDEX machines_host ON machines (host)`:                   nil,
		`ALTER TABLE machines DROP COLUMN host`:                           {"machines.host is gone"},
		`ALTER TABLE machines RENAME COLUMN host TO name_of_host`:         {"machines.host is gone", "machines.name_of_host must be given"},
		`CREATE UNIQUE INDEX machines_host ON machines (host)`:            {"machines (host) must be unique"},
		`DROP TABLE clocks`: {"clocks is gone"},
		`DROP TABLE clocks; CREATE TABLE clocks (machine INTEGER NOT NULL, host TEXT NOT NULL, ahead INTEGER NOT NULL DEFAULT 0, account INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (machine, host)) STRICT`: {"clocks.machine is INTEGER"},
	} {
		path := newPath(t)
		after, err := openAs(t, path, release(t, change+";"))
		if err != nil {
			t.Fatal(err)
		}
		before, err := openAs(t, newPath(t), ours(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := takesAway(t, before, after); !slices.Equal(got, want) {
			t.Errorf("%s: %q", change, got)
		}
	}
}

// takesAway returns what a program that knows one SQLite schema misses in another one.
func takesAway(t *testing.T, before, after *DB) (misses []string) {
	t.Helper()
	type column struct {
		table, name, typ string
		must, has        bool // NOT NULL, a default
	}
	read := func(d *DB) (columns []column, unique map[string]bool) {
		unique = map[string]bool{}
		err := d.View(t.Context(), func(tx *Tx) (err error) {
			columns, err = listRows(t.Context(), tx, "columns", func(row scanner) (c column, err error) {
				return c, row.Scan(&c.table, &c.name, &c.typ, &c.must, &c.has)
			}, `SELECT m.name, c.name, c.type, c."notnull", c.dflt_value IS NOT NULL OR c.pk = 1 AND c.type = 'INTEGER' FROM sqlite_schema m JOIN pragma_table_info(m.name) c
				WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'goose%' ORDER BY m.name, c.cid`)
			if err != nil {
				return err
			}
			keys, err := listRows(t.Context(), tx, "keys", scanString, `SELECT m.name || ' (' || (SELECT group_concat(name, ', ') FROM pragma_index_info(i.name)) || ')'
				FROM sqlite_schema m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i."unique" ORDER BY 1`)
			for _, k := range keys {
				unique[k] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return columns, unique
	}
	had, hadUnique := read(before)
	has, hasUnique := read(after)
	tables := map[string]bool{}
	for _, c := range has {
		tables[c.table] = true
	}
	known, gone := map[string]bool{}, map[string]bool{}
	for _, c := range had {
		known[c.table] = true
		i := slices.IndexFunc(has, func(o column) bool { return o.table == c.table && o.name == c.name })
		switch {
		case !tables[c.table]:
			if !gone[c.table] {
				misses = append(misses, c.table+" is gone")
			}
			gone[c.table] = true
		case i < 0:
			misses = append(misses, c.table+"."+c.name+" is gone")
		case has[i].typ != c.typ:
			misses = append(misses, c.table+"."+c.name+" is "+has[i].typ)
		case has[i].must && !c.must || !has[i].has && c.has:
			misses = append(misses, c.table+"."+c.name+" must be given")
		}
	}
	for _, c := range has {
		new := known[c.table] && !slices.ContainsFunc(had, func(o column) bool { return o.table == c.table && o.name == c.name })
		if new && c.must && !c.has {
			misses = append(misses, c.table+"."+c.name+" must be given")
		}
	}
	for k := range hasUnique {
		if table, _, _ := strings.Cut(k, " "); known[table] && !hadUnique[k] {
			misses = append(misses, k+" must be unique")
		}
	}
	return misses
}

// Several machines of a new release open the database at the same time: one migrates.
func TestMachinesMigrateAtTheSameTime(t *testing.T) {
	at := emptyServer.Copy(t)
	next := release(t, `CREATE TABLE later (id BIGINT); INSERT INTO later SELECT count(*) FROM pg_stat_activity; SELECT pg_sleep(0.3);`+usableBy(t, 1, 0))
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			d, err := open(t.Context(), at, Options{Now: clock, Machine: fmt.Sprint("box", i)}, next)
			if err == nil {
				err = d.Close()
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	d, err := openAs(t, at, next)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, count(t, d, `SELECT count(*) FROM later`), 1)
}

// A statement of a migration may take longer than what a pass writes. A server that answers nothing ends it.
func TestAMigrationTakesItsTime(t *testing.T) {
	at := emptyServer.Copy(t)
	openAt(t, at)
	waits := writerWaits
	t.Cleanup(func() { writerWaits = waits })
	for writerWaits = 200 * time.Millisecond; ; writerWaits *= 2 { // on a busy machine an answer takes longer
		_, err := openAs(t, at, release(t, fmt.Sprintf(`SELECT pg_sleep(%g);`, 5*writerWaits.Seconds())+usableBy(t, 1, 0)))
		if err != nil && writerWaits < 3*time.Second {
			continue
		}
		if err != nil {
			t.Error(err)
		}
		break
	}
	proxy, err := testpg.OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	proxy.OnFlight(func(f testpg.Flight) string {
		if strings.Contains(f.SQL, "pg_sleep(30)") {
			proxy.Freeze()
		}
		return ""
	})
	began := time.Now()
	_, err = openAs(t, proxy.Through(at), release(t, `SELECT pg_sleep(1);`+usableBy(t, 1, 0), `SELECT pg_sleep(30);`+usableBy(t, 2, 0)))
	if took := time.Since(began); err == nil || !strings.Contains(faultOf(t, err), "it does not answer") || took > 20*time.Second {
		t.Errorf("after %s: %v", took, err)
	}
}

func count(t *testing.T, d *DB, query string) int {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (int, error) { return getRow(t.Context(), tx, "count", scanCount, query) })
}

// migratorVariable has the database that the child of a test migrates, for as long as it lives.
const migratorVariable = "STORE_TEST_MIGRATES"

// slowly is a migration that takes longer than others wait for it.
func slowly(t testing.TB) string {
	return `CREATE TABLE half (id BIGINT);` + strings.Repeat(`SELECT pg_sleep(1);`, 60) + usableBy(t, 1, 0)
}

// TestChildMigrates is the child of TestAMachineThatDiesWhileItMigrates.
func TestChildMigrates(t *testing.T) {
	at := os.Getenv(migratorVariable)
	if at == "" {
		t.Skip("the child of another test")
	}
	_, err := open(t.Context(), at, Options{Now: clock, Machine: "attic"}, release(t, slowly(t)))
	t.Fatal(err)
}

// As long as a machine migrates, others say so after a short wait, and programs of the release before
// work. If the machine dies, nothing of the migration stays, and the next one migrates.
func TestAMachineThatDiesWhileItMigrates(t *testing.T) {
	at := emptyServer.Copy(t)
	ctx, die := context.WithCancel(t.Context())
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChildMigrates$")
	child.Env = append(os.Environ(), migratorVariable+"="+at, testpg.Variable+"="+os.Getenv(testpg.Variable))
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { die(); _ = child.Wait() }()
	old, err := openAs(t, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	for count(t, old, `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gh mergexo migrates on attic' AND query LIKE '%pg_sleep%'`) == 0 {
		time.Sleep(50 * time.Millisecond)
	}
	addRepo(t, old)
	next := release(t, `CREATE TABLE whole (id BIGINT);`+usableBy(t, 1, 0))
	began := time.Now()
	_, err = openAs(t, at, next)
	if says := faultOf(t, err); !strings.Contains(says, "a migration runs on machine attic") {
		t.Errorf("says %q", says)
	}
	if waited := time.Since(began); waited > 6*migrationWait {
		t.Errorf("it waited for %s", waited)
	}
	die()
	_ = child.Wait()
	d, err := openAs(t, at, next)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, count(t, d, `SELECT count(*) FROM pg_tables WHERE tablename = 'half'`), 0)
	equal(t, count(t, d, `SELECT count(*) FROM pg_tables WHERE tablename = 'whole'`), 1)
	equal(t, count(t, d, `SELECT count(*) FROM repositories`), 1)
}
