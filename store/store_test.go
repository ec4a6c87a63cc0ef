package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

var (
	t0   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	name = work.RepoName{Host: "github.com", Owner: "Octo", Name: "hello"}
)

func clock() time.Time { return t0 }

// newPath is a state database's path that no file, WAL or escape is at yet. A test that names a path is
// about the file, and stays SQLite's; one that calls newDB runs on either engine.
func newPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "odd ?#%41 folder", "state.db")
}

// openAt opens a database, which is closed when the test ends.
func openAt(t testing.TB, at string) *DB {
	t.Helper()
	d, err := Open(t.Context(), at, Options{Now: clock, RunTwice: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// emptyFile and emptyServer are a database that has its schema, and nothing in it. To migrate one takes
// longer than most tests of what is in it.
var (
	emptyFile   = testhome.Template{Make: create}
	emptyServer = testpg.Template{Make: create}
)

func create(ctx context.Context, at string) error {
	d, err := Open(ctx, at, Options{Now: clock})
	if err != nil {
		return err
	}
	return d.Close()
}

// newAt is where an empty database is: a URL where there is a server for tests, a path otherwise.
func newAt(t testing.TB) string {
	t.Helper()
	if testpg.Set() {
		return emptyServer.Copy(t)
	}
	path := newPath(t)
	emptyFile.Put(t, path)
	return path
}

// newFile is an empty database of SQLite's, for tests that ask SQLite about itself.
func newFile(t testing.TB) *DB {
	t.Helper()
	path := newPath(t)
	emptyFile.Put(t, path)
	return openAt(t, path)
}

// changedRows counts the rows that the transaction has changed so far.
func changedRows(t testing.TB, tx *Tx) (n int64) {
	t.Helper()
	count := func(query string) int64 {
		n, err := getRow(t.Context(), tx, "changes", scanID, query)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if !testpg.Set() {
		return count(`SELECT total_changes()`)
	}
	tables, err := listRows(t.Context(), tx, "tables", scanString, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		n += count(`SELECT count(*) FROM ` + table + ` WHERE xmin = pg_current_xact_id_if_assigned()::xid`)
	}
	return n
}

// newDB is an empty database, which is examined when the test ends.
func newDB(t testing.TB) *DB {
	t.Helper()
	d := openAt(t, newAt(t))
	t.Cleanup(func() {
		if err := d.Check(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func update(t testing.TB, d *DB, fn func(*Tx) error) {
	t.Helper()
	if err := d.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// With RunTwice each function runs twice and the second run counts, so that one whose second run
// differs fails its test. An error of the first run is the error of Update.
func TestUpdateRunsTwice(t *testing.T) {
	d := newDB(t)
	var found []int
	update(t, d, func(tx *Tx) error {
		before, err := tx.ListLimits(t.Context())
		found = append(found, len(before))
		return errors.Join(err, tx.SetLimit(t.Context(), work.Limit{Host: name.Host, Resource: "core", NotBefore: t0}))
	})
	if want := []int{0, 0}; !slices.Equal(found, want) {
		t.Errorf("the runs found %v rows, not %v: the first one is rolled back", found, want)
	}
	if rows := inTx(t, d, func(tx *Tx) ([]work.Limit, error) { return tx.ListLimits(t.Context()) }); len(rows) != 1 {
		t.Errorf("%d rows are stored, not that of the second run", len(rows))
	}
	runs := 0
	err := d.Update(t.Context(), func(*Tx) error { runs++; return ErrStale })
	if !errors.Is(err, ErrStale) || runs != 1 {
		t.Errorf("%d runs: %v", runs, err)
	}
	once, err := Open(t.Context(), newPath(t), Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	runs = 0
	update(t, once, func(*Tx) error { runs++; return nil })
	if err := once.Close(); err != nil || runs != 1 {
		t.Errorf("without RunTwice: %d runs, %v", runs, err)
	}
}

// inTx is one call in a transaction of its own.
func inTx[T any](t testing.TB, d *DB, fn func(*Tx) (T, error)) T {
	t.Helper()
	var v T
	update(t, d, func(tx *Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v
}

// wantErr is one call in a transaction of its own that must fail with want.
func wantErr(t testing.TB, d *DB, want error, fn func(*Tx) error) {
	t.Helper()
	if err := d.Update(t.Context(), fn); !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

func equal(t testing.TB, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func addRepo(t testing.TB, d *DB) work.Repo {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.EnsureRepo(t.Context(), name) })
}

func addItem(t testing.TB, d *DB, i work.Item) work.Item {
	t.Helper()
	if i.State == "" {
		i.State = work.StatePending
	}
	id := inTx(t, d, func(tx *Tx) (int64, error) { return tx.AddItem(t.Context(), i) })
	return inTx(t, d, func(tx *Tx) (work.Item, error) { return tx.GetItem(t.Context(), id) })
}

func addEvent(t testing.TB, d *DB, e work.Event) work.Event {
	t.Helper()
	if added := inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddEvent(t.Context(), e) }); !added {
		t.Fatalf("event %q was known", e.Key)
	}
	for _, got := range inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListEvents(t.Context(), e.RepoID, e.Number) }) {
		if got.Key == e.Key {
			return got
		}
	}
	t.Fatalf("event %q is not listed", e.Key)
	return work.Event{}
}

func addTurn(t testing.TB, d *DB, u work.Turn) work.Turn {
	t.Helper()
	if u.Step == "" {
		u.Step = work.StepClaimed
	}
	id := inTx(t, d, func(tx *Tx) (int64, error) { return tx.AddTurn(t.Context(), u) })
	return getTurn(t, d, id)
}

func getTurn(t testing.TB, d *DB, id int64) work.Turn {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Turn, error) { return tx.GetTurn(t.Context(), id) })
}

func addAction(t testing.TB, d *DB, a work.Action) work.Action {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Action, error) { return tx.AddAction(t.Context(), a) })
}

// fill gives every field of a struct a value that no other field has, so that
// a column in the wrong place is seen.
func fill(t testing.TB, p any) {
	t.Helper()
	n := 1
	fillValue(t, reflect.ValueOf(p).Elem(), "", &n)
}

func fillValue(t testing.TB, v reflect.Value, field string, n *int) {
	*n++
	if _, ok := reflect.TypeAssert[time.Time](v); ok {
		v.Set(reflect.ValueOf(t0.Add(time.Duration(*n) * time.Hour)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(field + " ☃ " + strconv.Itoa(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 0xff, byte(*n)})
			return
		}
		v.Set(reflect.ValueOf([]string{field, `"quoted", \ and ☃`}))
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(t, v.Field(i), v.Type().Field(i).Name, n)
		}
	default:
		t.Fatalf("field %s: no value for %s", field, v.Type())
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// EnsureRepo returns the row of a repository that the config names, and creates it if there is
// none.
func (t *Tx) EnsureRepo(ctx context.Context, name work.RepoName) (work.Repo, error) {
	all, err := t.OpenRepos(ctx, []work.RepoName{name})
	if err != nil {
		return work.Repo{}, err
	}
	return all[0], nil
}
