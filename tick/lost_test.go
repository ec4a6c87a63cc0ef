package tick

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// unread are the journals that are not compared with a machine's database, as texts.
func (m *inFleet) unread(t *testing.T) (all []string) {
	t.Helper()
	err := m.Store.View(t.Context(), func(tx *store.Tx) error {
		rows, err := tx.ListUnreadJournals(t.Context())
		for _, u := range rows {
			all = append(all, u.Machine+":"+u.Mirror)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// moveTo has a machine use another database from now on, as if the first one was lost.
func (m *inFleet) moveTo(t *testing.T, at string) {
	t.Helper()
	clock := func() time.Time { return m.now }
	db, err := store.Open(t.Context(), at, store.Options{Now: clock, RunTwice: true, Machine: m.Machine.Name, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	m.Store = db
}

func (m *inFleet) work(t *testing.T) {
	t.Helper()
	if err := m.pass(t, work.PassOK, ""); err != nil {
		t.Fatal(err)
	}
}

func (m *inFleet) mirror(t *testing.T, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(m.Dirs.State, "repos", "github.com", name+".git"), 0o700); err != nil {
		t.Fatal(err)
	}
}

// After a database is lost, the first machine there has the others awaited that were at work; each
// names its mirrors with its first pass. One that was silent, or is forgotten, is not awaited. What is
// restored to an earlier state is found by what a machine remembers of its own row.
func TestMachinesAfterTheDatabaseIsLost(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return testdb.At(t, filepath.Join(dir, name+".db")) }
	var all []*inFleet
	for _, name := range []string{"a", "b", "c", "gone"} {
		m := newInFleet(t, at("first"), name, true)
		m.mirror(t, "of-"+name)
		m.now = m.now.Add(123456 * time.Nanosecond) // the database has milliseconds
		all = append(all, m)
	}
	a, b, c, gone := all[0], all[1], all[2], all[3]
	expect := func(what string, m *inFleet, want ...string) {
		t.Helper()
		if got := m.unread(t); !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", what, got, want)
		}
	}
	later := func(d time.Duration) {
		for _, m := range all {
			m.now = m.now.Add(d)
		}
	}
	read := func(m *inFleet) { // as a pass does that compares its journals
		t.Helper()
		if err := m.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.DropUnreadJournals(t.Context(), "github.com/of-"+m.Machine.Name) }); err != nil {
			t.Fatal(err)
		}
	}
	gone.work(t)
	later(40 * time.Hour)
	for _, m := range []*inFleet{a, b, c} {
		m.work(t)
	}
	expect("new to a database", a, "a:github.com/of-a", "b:github.com/of-b", "c:github.com/of-c", "gone:github.com/of-gone")
	for range 2 { // the second pass remembers all others
		for _, m := range []*inFleet{a, b, c} {
			m.work(t)
			read(m)
		}
		read(gone)
		later(work.MachineNoteEvery)
	}
	expect("compared", a)
	writes := func(m *inFleet) string { return fmt.Sprint(m.machines(t), m.unread(t)) }
	a.work(t)
	before := writes(a)
	later(time.Minute)
	a.work(t)
	later(-time.Minute)
	if after := writes(a); after != before {
		t.Errorf("an idle pass made %s of %s", after, before)
	}

	for _, m := range all {
		m.moveTo(t, at("second"))
	}
	a.work(t)
	expect("lost", a, "a:github.com/of-a", "b:", "c:")
	row := work.Repo{Name: work.RepoName{Host: "github.com", Owner: "o", Name: "x"}, NodeID: "R_x"}
	if got := a.Awaited(row); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("a turn of a repository without a mirror waits for %q", got)
	}
	b.work(t)
	expect("the second machine", a, "a:github.com/of-a", "b:github.com/of-b", "c:")
	if err := a.Store.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.ForgetMachine(t.Context(), "c"); return err }); err != nil {
		t.Fatal(err)
	}
	later(work.MachineNoteEvery)
	a.work(t)
	expect("forgotten", a, "a:github.com/of-a", "b:github.com/of-b")
	if got := b.Awaited(row); !slices.Equal(got, []string{"c"}) { // as it was when its pass began
		t.Errorf("machine b waits for %q", got)
	}
	read(a)
	read(b)
	gone.work(t) // it is there again, and remembers machines of a month ago: nobody waits for them
	expect("silent before", a, "gone:github.com/of-gone")
	read(gone)

	// An earlier state is restored: the rows of machines are older than what they remember.
	later(work.MachineNoteEvery)
	earlier := a.machines(t)
	for _, m := range []*inFleet{a, b, gone} {
		m.work(t)
	}
	later(work.MachineNoteEvery)
	for _, m := range []*inFleet{a, b, gone} {
		m.work(t)
	}
	expect("nothing is lost", a)
	err := a.Store.Update(t.Context(), func(tx *store.Tx) error {
		for _, m := range earlier {
			if err := tx.PutMachine(t.Context(), m); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	later(time.Minute)
	b.work(t)
	expect("set back", a, "a:", "b:github.com/of-b", "gone:")
	a.work(t)
	expect("set back, and found by two", a, "a:github.com/of-a", "b:github.com/of-b", "gone:")
	b.work(t)
	read(b)
	b.work(t)
	expect("found once", a, "a:github.com/of-a", "gone:")
}

// A machine that has its database for itself remembers nobody. If the database is moved to a server, and
// another machine joins, nobody waits either.
func TestOneMachineWaitsForNobody(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a := newInFleet(t, at, "a", false)
	if a.Store.Shared() {
		t.Skip("other machines have this database")
	}
	a.mirror(t, "of-a")
	a.work(t)
	if f, err := a.Dirs.Fleet(); err != nil || !f.Noted.IsZero() || len(a.unread(t)) > 0 {
		t.Errorf("%+v, %v, %q", f, err, a.unread(t))
	}
	a.moveTo(t, at) // shared from now on
	b := newInFleet(t, at, "b", true)
	for range 2 {
		a.work(t)
		b.work(t)
		a.now, b.now = a.now.Add(work.MachineNoteEvery), b.now.Add(work.MachineNoteEvery)
	}
	if f, err := a.Dirs.Fleet(); err != nil || !slices.Equal(f.Others, []string{"b"}) || len(a.unread(t)) > 0 {
		t.Errorf("%+v, %v, %q", f, err, a.unread(t))
	}
}
