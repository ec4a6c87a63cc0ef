package tick

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// inFleet is a machine with a state folder of its own.
type inFleet struct {
	*Pass
	now time.Time
}

func newInFleet(t *testing.T, at, name string, shared bool) *inFleet {
	t.Helper()
	m := &inFleet{now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return m.now }
	db, err := store.Open(t.Context(), at, store.Options{Now: clock, RunTwice: true, Machine: name, Shared: shared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	cfg := &config.Config{}
	m.Pass = &Pass{Env: &env.Env{
		TokenVariable: func(string) string { return "" },
		Config:        cfg, Store: db, Dirs: folder.Dirs{State: t.TempDir()}, Now: clock, Local: clock, Log: slog.New(slog.DiscardHandler),
		Machine: work.Machine{Name: name, Installation: "folder of " + name, Host: "desk", Version: "v1.2.3"},
	}}
	m.assemble()
	return m
}

// pass begins a pass, and ends it as given.
func (m *inFleet) pass(t *testing.T, outcome work.PassOutcome, why string) error {
	t.Helper()
	begun, err := m.Dirs.BeginPass(t.Context(), m.now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.begin(t.Context(), m.describeMachine(t.Context()))
	if _, endErr := begun.End(t.Context(), outcome, m.now, why, ""); endErr != nil {
		t.Fatal(endErr)
	}
	return err
}

func (m *inFleet) machines(t *testing.T) (all []work.Machine) {
	t.Helper()
	err := m.Store.View(t.Context(), func(tx *store.Tx) (err error) {
		all, err = tx.ListMachines(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A pass describes its machine; an idle one writes that only every few minutes. One that no pass
// begins on is silent after a while that follows from its own interval.
func TestAMachineDescribesItself(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	began := a.now
	row := func(name string) work.Machine {
		t.Helper()
		all := b.machines(t)
		return all[slices.IndexFunc(all, func(m work.Machine) bool { return m.Name == name })]
	}
	for range 4 { // one a minute
		for _, m := range []*inFleet{a, b} {
			if err := m.pass(t, work.PassOK, ""); err != nil {
				t.Fatal(err)
			}
			m.now = m.now.Add(time.Minute)
		}
	}
	if got := row("a"); !got.BeganAt.Equal(began) || got.Host != "desk" || got.Version != "v1.2.3" || !got.GoodAt.IsZero() {
		t.Errorf("after four idle passes: %+v", got)
	}
	if err := a.pass(t, work.PassFailed, "no network"); err != nil {
		t.Fatal(err)
	}
	a.now = a.now.Add(time.Minute)
	if err := a.pass(t, work.PassOK, ""); err != nil { // it tells how the ones before it ended
		t.Fatal(err)
	}
	if got := row("a"); !got.BeganAt.Equal(a.now) || !got.GoodAt.Equal(began.Add(3*time.Minute)) || got.Failures != 1 || got.Why != "no network" {
		t.Errorf("after a failure: %+v", got)
	}
	for after, want := range map[time.Duration]bool{10 * time.Minute: false, 16 * time.Minute: true} {
		if since, silent := row("a").Silent(a.now.Add(after)); silent != want {
			t.Errorf("after %s: silent %v, since %s", after, silent, since)
		}
	}
	a.now = a.now.Add(8 * time.Hour)
	for range 2 { // it has slept; the first pass does not know that the next one comes soon
		if err := a.pass(t, work.PassOK, ""); err != nil {
			t.Fatal(err)
		}
		a.now = a.now.Add(work.MachineNoteEvery)
	}
	if got := row("a").SilentAfter; got != work.Silence(work.MachineNoteEvery) {
		t.Errorf("silent after %s", got)
	}
}

// A pass reports the other machines that are silent, or whose passes fail, also while everything is
// paused. A machine that was stopped is missed again once a pass has begun there.
func TestAPassReportsOtherMachines(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	reports := func(want string) {
		t.Helper()
		for _, paused := range []bool{false, true} {
			err := a.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
				if !paused {
					_, err = tx.ResumeFleet(t.Context())
					return err
				}
				return tx.PauseFleet(t.Context(), a.now, "ann", "the bill")
			})
			if err != nil {
				t.Fatal(err)
			}
			rep := env.NewReport(a.now)
			if _, err := a.plan(t.Context(), rep); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, m := range rep.Machines {
				says, _ := m.Says(a.now)
				got += m.Name + " " + says
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("reports %q, want %q", got, want)
			}
		}
	}
	if err := b.pass(t, work.PassOK, ""); err != nil {
		t.Fatal(err)
	}
	reports("")
	a.now = a.now.Add(24 * time.Hour)
	reports("b machine b (desk) is silent")
	if err := b.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.StopMachine(t.Context(), work.MachineUnscheduled) }); err != nil {
		t.Fatal(err)
	}
	reports("")
	if err := b.pass(t, work.PassOK, ""); err != nil { // soon after the one before: its row is new
		t.Fatal(err)
	}
	reports("b machine b (desk) is silent")
}

// A command describes no machine: no pass begins with it.
func TestACommandDescribesNoMachine(t *testing.T) {
	a := newInFleet(t, testdb.At(t, filepath.Join(t.TempDir(), "state.db")), "a", true)
	if _, err := a.begin(t.Context(), a.Machine); err != nil || len(a.machines(t)) > 0 {
		t.Errorf("%v, machines %+v", err, a.machines(t))
	}
}

// A database that is not shared came with its state folder: it knows this machine only.
func TestOneMachineKnowsNoOther(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	before, now := newInFleet(t, at, "before", false), newInFleet(t, at, "now", false)
	if now.Store.Shared() {
		t.Skip("other machines have this database")
	}
	for _, m := range []*inFleet{before, now} {
		if err := m.pass(t, work.PassOK, ""); err != nil {
			t.Fatal(err)
		}
	}
	if all := now.machines(t); len(all) != 1 || all[0].Name != "now" {
		t.Errorf("machines %+v", all)
	}
}

// A pause of all machines stops every machine's passes, and ends for all where a person ends it. The
// pause of one machine needs no database, and holds that machine only.
func TestAPauseOfAllMachines(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	fleet := func(fn func(context.Context, *store.Tx) error) {
		t.Helper()
		if err := a.Store.Update(t.Context(), func(tx *store.Tx) error { return fn(t.Context(), tx) }); err != nil {
			t.Fatal(err)
		}
	}
	halted := func(what string, want ...bool) {
		t.Helper()
		for i, m := range []*inFleet{a, b} {
			rep := env.NewReport(m.now)
			if _, err := m.plan(t.Context(), rep); err != nil {
				t.Fatal(err)
			}
			if _, is := m.Halted(t.Context()); is != want[i] || (rep.Halt != nil) != want[i] {
				t.Errorf("%s: machine %d is halted: %v, %+v", what, i, is, rep.Halt)
			}
		}
	}
	halted("at first", false, false)
	h, _, err := a.Dirs.HaltAll("the bill", a.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := a.Halted(t.Context()); !is {
		t.Error("the file alone does not pause its machine")
	}
	if _, is := b.Halted(t.Context()); is {
		t.Error("the file of a machine pauses another one")
	}
	fleet(func(ctx context.Context, tx *store.Tx) error { return tx.PauseFleet(ctx, h.Since, "ann", h.Why) })
	if _, err = a.Dirs.HaltFleet(h); err != nil {
		t.Fatal(err)
	}
	halted("paused", true, true)
	if got, _ := b.Halted(t.Context()); !got.Since.Equal(h.Since) || !strings.Contains(got.Says(), "as on all machines, by ann on a: the bill") {
		t.Errorf("says %q", got.Says())
	}
	fleet(func(ctx context.Context, tx *store.Tx) error { _, err := tx.ResumeFleet(ctx); return err })
	halted("resumed on another machine", false, false)
	if _, kept := a.Dirs.Halted(); kept {
		t.Error("the file of a pause that is over is kept")
	}
}

// A machine whose config does not name a repository, or not yet, does not take it out of another
// machine's: their configs may have one path. A forgotten machine keeps none.
func TestAMachineTakesOutWhatItNames(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	names := func(m *inFleet, repos ...string) (gone []work.RepoName) {
		t.Helper()
		m.Remotes = nil
		for _, r := range repos {
			m.Remotes = append(m.Remotes, env.Remote{Name: work.RepoName{Host: "github.com", Owner: "octo", Name: r}})
		}
		err := m.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
			if err := m.OpenRepos(t.Context(), tx); err != nil {
				return err
			}
			for _, r := range m.All {
				if _, _, err := tx.IdentifyRepo(t.Context(), r.Row.ID, store.RepoIdentity{NodeID: r.Name.Name, GitHubID: 1, Current: r.Name}); err != nil {
					return err
				}
			}
			gone, err = m.OpenRemovedRepos(t.Context(), tx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return gone
	}
	for range 2 {
		if gone := append(names(a, "x", "y"), names(b, "y", "z")...); len(gone) > 0 {
			t.Errorf("taken out: %v", gone)
		}
	}
	if gone := names(a, "y"); len(gone) != 1 || gone[0].Name != "x" {
		t.Errorf("taken out: %v, want x", gone)
	}
	if gone := names(b, "z"); len(gone) > 0 { // a names y, too
		t.Errorf("taken out: %v", gone)
	}
	if err := b.Store.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.ForgetMachine(t.Context(), "a"); return err }); err != nil {
		t.Fatal(err)
	}
	names(b, "y", "z")
	if gone := names(b, "z"); len(gone) != 1 || gone[0].Name != "y" {
		t.Errorf("taken out: %v, want y", gone)
	}
}

// Nobody reads the times of a machine that has the database for itself: its idle passes write none.
func TestOneMachineWritesNoTimes(t *testing.T) {
	if testpg.Set() {
		t.Skip("a server's database is shared")
	}
	a := newInFleet(t, testdb.At(t, filepath.Join(t.TempDir(), "state.db")), "a", false)
	began := a.now
	for range 3 {
		if err := a.pass(t, work.PassOK, ""); err != nil {
			t.Fatal(err)
		}
		a.now = a.now.Add(work.MachineNoteEvery)
	}
	if all := a.machines(t); len(all) != 1 || !all[0].BeganAt.Equal(began) {
		t.Errorf("%+v", all)
	}
}

// A repository is left to the machine that lately claimed a turn there, as long as that machine has a slot
// for another one. To have planned something else there is no reason.
func TestARepositoryIsLeftToTheMachineOfItsTurns(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has the database for itself")
	}
	names := []work.RepoName{{Host: "github.com", Owner: "octo", Name: "app"}, {Host: "github.com", Owner: "octo", Name: "lib"}}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, later := newInFleet(t, at, "a", true), time.Duration(0)
	turn := func(number int) (id int64) {
		t.Helper()
		err := a.Store.Update(t.Context(), func(tx *store.Tx) error {
			rows, err := tx.OpenRepos(t.Context(), names)
			if err != nil {
				return err
			}
			item, err := tx.AddItem(t.Context(), work.Item{RepoID: rows[0].ID, Number: number, State: work.StateAwaitingFeedback})
			if err != nil {
				return err
			}
			id, err = tx.AddTurn(t.Context(), work.Turn{RepoID: rows[0].ID, ItemID: item, Number: number, Key: strconv.Itoa(number), Kind: work.KindSmallJobStart, Step: work.StepClaimed})
			if err != nil {
				return err
			}
			tx.Hold(store.PlanningClaim(rows[1], store.NewEpoch()))
			_, err = tx.AddAction(t.Context(), work.Action{RepoID: rows[1].ID, Token: strconv.Itoa(number)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	plans := func(what string, want ...string) {
		t.Helper()
		b := newInFleet(t, at, "b", true)
		b.now, b.Config.Runtime.Workers = b.now.Add(later), 2
		var err error
		if b.Session, err = b.Store.Session(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer b.Session.Close(t.Context())
		err = b.Store.View(t.Context(), func(tx *store.Tx) error {
			rows, err := tx.ListRepos(t.Context())
			for _, row := range rows {
				b.All = append(b.All, &env.Repo{Remote: env.Remote{Name: row.Name}, Row: row})
			}
			return err
		})
		if err == nil {
			_, err = b.LockPreferred(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range b.All {
			if b.Mine(r.Row.ID) {
				got = append(got, r.Name.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the other machine plans for %q, not %q", what, got, want)
		}
	}
	first := turn(1)
	plans("it works in one of two slots", "lib")
	turn(2)
	plans("it works in both", "app", "lib")
	err := a.Store.Update(t.Context(), func(tx *store.Tx) error {
		return tx.EndTurn(t.Context(), first, work.StepClaimed, work.StepFailed, "", a.now)
	})
	if err != nil {
		t.Fatal(err)
	}
	plans("one of them is free again", "lib")
	later = time.Hour
	plans("it was an hour ago", "app", "lib")
}

// A turn is left to its machine while that machine alone has its commit, because it is too large for the database.
func TestATurnWaitsForItsMachine(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	var turn work.Turn
	err := a.Store.Update(t.Context(), func(tx *store.Tx) error {
		r, err := testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		if err != nil {
			return err
		}
		b.All = []*env.Repo{{Remote: env.Remote{Name: r.Name}, Row: r}}
		item, err := tx.AddItem(t.Context(), work.Item{RepoID: r.ID, Number: 1, State: work.StateRunning})
		if err != nil {
			return err
		}
		turn = work.Turn{RepoID: r.ID, ItemID: item, Number: 1, Key: "1", Kind: work.KindSmallJobStart, Step: work.StepClaimed, Machine: "a"}
		if turn.ID, err = tx.AddTurn(t.Context(), turn); err != nil {
			return err
		}
		_, err = tx.PutBundle(t.Context(), store.Bundle{Turn: turn.ID, Commit: "c0ffee"})
		return errors.Join(err, tx.PutMachine(t.Context(), a.Machine))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Config.Agents, b.Agents = map[string]config.Agent{"": {}}, ready{}
	if _, err := b.PreviewPreferred(t.Context()); err != nil { // it plans for the repository
		t.Fatal(err)
	}
	if !b.resumable(t.Context(), turn) {
		t.Error("its turn may not be resumed")
	}
	turn.Step = work.StepAnswered
	for m, want := range map[*inFleet]bool{a: false, b: true} {
		if got, err := m.onlyElsewhere(t.Context(), turn); got != want || err != nil {
			t.Errorf("only another machine than %s has the commit: %v, %v", m.Machine.Name, got, err)
		}
	}
}

// ready has each agent ready to run.
type ready struct{ env.Agents }

func (ready) Agent(context.Context, work.Repo, string) (env.Hired, error) { return env.Hired{}, nil }

// A name goes to the state folder that stores it last: a pod that is made again is the same machine. The folder
// that had it before is refused, until one of the two has another name.
func TestTwoFoldersOfOneName(t *testing.T) {
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b, c := newInFleet(t, at, "a", true), newInFleet(t, at, "a", true), newInFleet(t, at, "a", true)
	b.Machine.Installation, b.Machine.Host = "another folder", "laptop"
	c.Machine.Installation = "a third one"
	passes := func(m *inFleet, may bool) {
		t.Helper()
		for _, other := range []*inFleet{a, b, c} {
			other.now = other.now.Add(time.Minute)
		}
		err := m.pass(t, work.PassOK, "")
		if fault, refused := errors.AsType[*namesakeError](err); refused == may || err != nil && !refused ||
			refused && !strings.Contains(fault.Error(), `on host laptop, goes by the name of this machine, a: a pass began there at `) {
			t.Errorf("%v, it may: %v", err, may)
		}
	}
	passes(a, true)
	passes(a, true)
	passes(b, true)
	passes(a, false)
	passes(b, true)
	passes(a, false)
	b.Machine.Name = "b"
	passes(b, true)
	passes(a, true)
	passes(b, true)
	b.Machine.Installation = "b's folder, on another machine now"
	passes(b, true)
	passes(c, true)
	passes(c, true)
}

// What a pass knows of a repository that it plans for was read under the lock.
func TestRowsAreReadUnderTheLock(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has the database for itself")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	a, b := newInFleet(t, at, "a", true), newInFleet(t, at, "b", true)
	var err error
	if a.Session, err = a.Store.Session(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Session.Close(t.Context()) })
	name := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	a.Remotes = []env.Remote{{Name: name, GitHub: &silentHub{}}}
	if _, err := a.begin(t.Context(), a.Machine); err != nil {
		t.Fatal(err)
	}
	row := func(m *inFleet) (r work.Repo) {
		t.Helper()
		err := m.Store.View(t.Context(), func(tx *store.Tx) (err error) { r, err = tx.GetRepo(t.Context(), a.All[0].Row.ID); return err })
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := row(b)
	r.IssuesSince = b.now
	err = b.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.IdentifyRepo(t.Context(), r.ID, store.RepoIdentity{NodeID: "R_1", GitHubID: 1, Current: name})
		return errors.Join(err, tx.SetCursors(t.Context(), r), tx.Heartbeat(t.Context(), r.ID, b.now))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.LockPreferred(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := a.All[0].Row, row(b); got != want {
		t.Errorf("%+v, stored is %+v", got, want)
	}
}

// One machine at a time merges in a repository.
func TestOneMachineMerges(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has the database for itself")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	merges := func(name string) (end func(), may bool) {
		t.Helper()
		m := newInFleet(t, at, name, true)
		var err error
		if m.Session, err = m.Store.Session(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Session.Close(context.WithoutCancel(t.Context())) })
		if end, may, err = m.TryMerging(t.Context(), work.Repo{ID: 1}); err != nil {
			t.Fatal(err)
		}
		return end, may
	}
	end, first := merges("a")
	_, second := merges("b")
	if !first || second {
		t.Fatalf("the first machine merges: %v, another one at the same time: %v", first, second)
	}
	end()
	if _, third := merges("c"); !third {
		t.Error("nobody merges once the first machine has ended")
	}
}

// silentHub is a GitHub that is not asked.
type silentHub struct{ env.GitHub }

func (silentHub) Ahead() (time.Duration, bool)       { return 0, false }
func (silentHub) Assume(time.Duration)               {}
func (silentHub) KeepLimits(func(l transport.Limit)) {}
func (silentHub) Now() time.Time                     { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

// A pass that loses its session in the end does not use up the line that merging has stopped: a later one
// says it.
func TestALostSessionLeavesTheLineOfAStop(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: one machine has no session")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	name := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	pass := func(lose bool) error {
		m := newInFleet(t, at, "a", true)
		other := work.RepoName{Host: "github.com", Owner: "octo", Name: "other"}
		m.Remotes, m.Only = []env.Remote{{Name: name, GitHub: &silentHub{}}}, &other
		m.Preflight = func(context.Context) error { return nil }
		m.Secrets = &secrets.Redactor{}
		m.OpenStore = func(ctx context.Context) (*store.DB, error) {
			return store.Open(ctx, at, store.Options{Now: m.Now, Machine: "a", Session: true})
		}
		m.Log = slog.New(onMessage{slog.DiscardHandler, func(what string) {
			if what == "pass" && lose {
				_, err := m.Store.SQL.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'gh mergexo pass' AND datname = current_database()`)
				if m.Session.Alive(t.Context()) == nil || err != nil {
					t.Errorf("the session is not lost: %v", err)
				}
			}
		}})
		var err error
		if m.Begun, err = m.Dirs.BeginPass(t.Context(), m.now); err != nil {
			t.Fatal(err)
		}
		_, err = m.Run(t.Context())
		return err
	}
	if err := pass(false); err != nil {
		t.Fatal(err)
	}
	m := newInFleet(t, at, "a", true)
	err := m.Store.Update(t.Context(), func(tx *store.Tx) error {
		r, err := testdb.Repo(t.Context(), tx, name)
		if err != nil {
			return err
		}
		return tx.StopMerging(t.Context(), r.ID, work.Reason{Kind: work.WhyMergeHalf})
	})
	if err != nil {
		t.Fatal(err)
	}
	const line = "nothing is merged in octo/app any more"
	if err := pass(true); !errors.Is(err, store.ErrTaken) || strings.Contains(err.Error(), line) {
		t.Errorf("the session is lost: %v", err)
	}
	for _, says := range []bool{true, false} {
		if err := pass(false); (err != nil) != says || says && !strings.Contains(err.Error(), line) {
			t.Errorf("the next pass: %v", err)
		}
	}
}

// onMessage calls a function for each line of a log.
type onMessage struct {
	slog.Handler
	do func(message string)
}

func (h onMessage) Enabled(context.Context, slog.Level) bool { return true }

func (h onMessage) Handle(_ context.Context, r slog.Record) error {
	h.do(r.Message)
	return nil
}

// A pass of an installation that the database knows begins with one round trip, also where an item waits for an answer.
func TestAPassBeginsWithOneLook(t *testing.T) {
	if !testpg.Set() {
		t.Skip("no PostgreSQL: it counts round trips")
	}
	at := testdb.At(t, filepath.Join(t.TempDir(), "state.db"))
	proxy, err := testpg.OpenProxy(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	m := newInFleet(t, proxy.Through(at), "a", true)
	err = m.Store.Update(t.Context(), func(tx *store.Tx) error {
		r, err := testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		if err != nil {
			return err
		}
		item, err := tx.AddItem(t.Context(), work.Item{RepoID: r.ID, Number: 1, State: work.StateAwaitingIssueFollowup})
		if err != nil {
			return err
		}
		return errors.Join(tx.PutFollowup(t.Context(), work.Followup{ItemID: item, Reason: work.Reason{Kind: work.WhyMachineFault}}))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.begin(t.Context(), m.Machine); err != nil { // the first one stores which installation this is
		t.Fatal(err)
	}
	proxy.Reset()
	if _, err := m.begin(t.Context(), m.Machine); err != nil || proxy.Flights() != 1 {
		t.Errorf("%d round trips, %v", proxy.Flights(), err)
	}
}
