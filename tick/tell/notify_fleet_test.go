package tell

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// on returns the Notifier of a pass on one of several machines that share the database. Each has a
// state folder of its own where the locks are the database's.
func (w *world) on(machine string) *Notifier {
	w.Helper()
	at := testdb.At(w, filepath.Join(w.dir, "state.db"))
	db, err := store.Open(w.Context(), at, store.Options{Now: func() time.Time { return w.now }, RunTwice: true, Machine: machine, Shared: true})
	if err != nil {
		w.Fatal(err)
	}
	session, err := db.Session(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { session.Close(context.Background()); _ = db.Close() })
	e := w.env(db, "chat")
	e.Machine, e.Session = work.Machine{Name: machine}, session
	if testpg.Set() {
		e.Dirs = folder.Dirs{State: w.TempDir()}
	}
	return NewNotifier(e, w.tell)
}

// at runs the ends of passes on machines at the same moment.
func (w *world) at(machines ...string) {
	w.Helper()
	var all sync.WaitGroup
	for _, name := range machines {
		t := w.on(name)
		all.Go(func() { w.ends(t, work.PassOK) })
	}
	all.Wait()
}

// Machines whose passes end at the same moment send each message once.
func TestMachinesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.at("a")
	var want []string
	for n := range 4 {
		w.opens(n + 1)
		want = append(want, "chat pull_request_opened")
	}
	w.at("a", "b", "c", "a", "b", "c")
	w.at("b")
	w.want(want...)
}

// A machine dies, or loses its session and works on, around a message: another one sends what was not
// begun, and nothing twice.
func TestAMachineDiesAroundAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		dies  func(w *world, a *Notifier)
		told  int
		state string
	}{
		"between the mark and the send": {func(w *world, a *Notifier) {
			all, err := a.plan(w.Context(), nil)
			if err != nil || len(all) != 1 {
				w.Fatal(all, err)
			}
			w.update(a.store, func(tx *store.Tx) error {
				all, err := tx.ListPlannedNews(w.Context())
				if err != nil {
					return err
				}
				return tx.MarkNewsSent(w.Context(), all[0].ID, w.now)
			})
		}, 0, "chat unclear"},
		"before the mark": {func(w *world, a *Notifier) {
			if _, err := a.plan(w.Context(), nil); err != nil {
				w.Fatal(err)
			}
		}, 1, "chat done"},
		"while it sends, and it lives on": {func(w *world, a *Notifier) {
			taken := notify.Answer{Fate: notify.Taken}
			w.send = func(string) notify.Answer {
				w.send = func(string) notify.Answer { return taken }
				if testpg.Set() {
					w.endSession(a.store)
					w.at("b")
				}
				return taken
			}
			w.ends(a, work.PassOK)
		}, 1, map[bool]string{true: "chat unclear", false: "chat done"}[testpg.Set()]},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.at("a")
			w.opens(1)
			c.dies(w, w.on("a"))
			w.at("b", "c")
			w.at("b")
			if len(w.told) != c.told {
				t.Errorf("told %d times: %q", len(w.told), w.told)
			}
			if got := w.states(); len(got) != 1 || got[0] != c.state {
				t.Errorf("%q, want %q", got, c.state)
			}
		})
	}
}

// endSession has the server end every session that has a lock, and waits until they are gone.
func (w *world) endSession(db *store.DB) {
	_, err := db.SQL.ExecContext(w.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	if err != nil {
		w.Error(err)
	}
}

// A machine that is silent is reported once, by whichever others there are, and the end of the silence
// once, also where it lasted longer than messages are kept. Nobody misses one that was stopped.
func TestASilenceIsToldOnce(t *testing.T) {
	w := newWorld(t)
	note := func(name string, how work.MachineStop) {
		t.Helper()
		w.update(w.on(name).store, func(tx *store.Tx) error {
			m := work.Machine{Name: name, BeganAt: w.now, SilentAfter: time.Hour}
			if err := tx.PutMachine(t.Context(), m); err != nil || how == "" {
				return err
			}
			return tx.StopMachine(t.Context(), how)
		})
	}
	later := func(d time.Duration) {
		t.Helper()
		w.now = w.now.Add(d)
		db := w.open()
		if _, err := db.Prune(t.Context(), w.now.AddDate(0, 0, -30)); err != nil {
			t.Fatal(err)
		}
		note("a", "")
		note("c", "")
		w.at("a", "c")
		w.at("c")
	}
	note("b", "")
	later(59 * time.Minute)
	w.want()
	later(2 * time.Minute)
	w.want("chat machine_silent")
	later(time.Hour)
	later(31 * 24 * time.Hour)
	later(31 * 24 * time.Hour)
	w.want()
	note("b", "")
	later(time.Minute)
	w.want("chat machine_back")
	note("b", work.MachineUnscheduled)
	later(2 * time.Hour)
	w.want()
	note("b", "")
	later(2 * time.Hour)
	w.want("chat machine_silent")
	w.update(w.on("a").store, func(tx *store.Tx) error { _, err := tx.ForgetMachine(t.Context(), "b"); return err })
	later(2 * time.Hour)
	w.want()
}
