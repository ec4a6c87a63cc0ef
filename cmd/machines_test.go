package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// fleetOf is a place whose database other machines have, too: build2 works on #12, and build3 is silent.
func fleetOf(t *testing.T) place {
	t.Helper()
	p := newPlace(t)
	p.fill(t)
	if _, err := (folder.Dirs{State: p.state}).Installation(folder.MachineID()); err != nil {
		t.Fatal(err)
	}
	here := here(t, p)
	p.update(t, "build2", func(tx *store.Tx) error {
		for name, began := range map[string]time.Time{here: p.now, "build2": p.now.Add(-time.Minute), "build3": p.now.Add(-time.Hour)} {
			m := work.Machine{Name: name, Host: "host-of-" + name, Version: "v1.2.3", BeganAt: began, GoodAt: began, SilentAfter: work.Silence(time.Minute)}
			if err := tx.PutMachine(t.Context(), m); err != nil {
				return err
			}
		}
		repo, err := testdb.Repo(t.Context(), tx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"})
		if err != nil {
			return err
		}
		items, err := tx.ListOpenItems(t.Context(), repo.ID)
		if err != nil {
			return err
		}
		turn := work.Turn{RepoID: repo.ID, ItemID: items[0].ID, Number: 13, Kind: work.KindFix, Key: "feed", Step: work.StepClaimed, Agent: "mine", ClaimedAt: p.now}
		if turn.ID, err = tx.AddTurn(t.Context(), turn); err != nil {
			return err
		}
		_, err = tx.BeginRun(t.Context(), work.Run{Turn: turn.ID, Attempt: true, Agent: "mine", Began: p.now})
		return err
	})
	return p
}

// here is the name of the place's machine.
func here(t *testing.T, p place) string {
	t.Helper()
	name, err := folder.Dirs{State: p.state}.MachineName("")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// update changes the database as another machine does.
func (p place) update(t *testing.T, machine string, fn func(*store.Tx) error) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(p.state, "state.db"), store.Options{Now: func() time.Time { return p.now }, RunTwice: true, Machine: machine, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// shared runs a command on a machine that shares its database.
func (p place) shared(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Main(Env{Args: append(args, "--config", p.config), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems, Version: "v1.2.3", Shared: true, Strict: true, Twice: true})
	return code, out.String(), problems.String()
}

func (p place) says(t *testing.T, args []string, want ...string) {
	t.Helper()
	_, stdout, stderr := p.shared(t, args...)
	for _, part := range want {
		if !strings.Contains(stdout+stderr, part) {
			t.Errorf("%q lacks %q:\n%s%s", args, part, stdout, stderr)
		}
	}
}

// What runs where is said wherever there is more than one machine, and a silent one is a warning
// until somebody forgets it.
func TestMachinesAreShown(t *testing.T) {
	p := fleetOf(t)
	p.says(t, []string{"machines"}, "host-of-build2", "octo/app#13", "build3\thost-of-build3\tv1.2.3")
	p.says(t, []string{"status"}, "machine build3 (host-of-build3) is silent: no pass has begun there since", "look at it there: gh mergexo status; if it is gone for good: gh mergexo --config "+p.config+" machines forget build3")
	p.says(t, []string{"show", "octo/app#12", "--turn", "last"}, "machine", "build2 (host-of-build2)")
	p.says(t, []string{"show", "octo/app#12", "--log"}, "this turn was worked on last on machine build2 (host-of-build2)")
	_, stdout, stderr := p.shared(t, "machines", "--json", "machines")
	var got struct{ Machines []status.Machine }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Machines) != 3 {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	for _, m := range got.Machines {
		if (m.State == "silent") != (m.Name == "build3") || m.This == strings.HasPrefix(m.Name, "build") || (len(m.Turns) == 1) != (m.Name == "build2") {
			t.Errorf("%+v", m)
		}
	}
	if code, _, stderr := p.shared(t, "machines", "forget", "build"); code != 1 || !strings.Contains(stderr, `there is no machine "build"`) {
		t.Errorf("code %d, %s", code, stderr)
	}
	p.says(t, []string{"machines", "forget", "build3"}, "Forgot machine build3.\n")
	if _, stdout, stderr := p.shared(t, "status"); strings.Contains(stdout+stderr, "silent") {
		t.Errorf("it is not forgotten:\n%s%s", stdout, stderr)
	}
	if code, _, stderr := p.shared(t, "machines", "forget", "build2"); code != 1 || !strings.Contains(stderr, "machine build2 works on octo/app#13; stop its passes") {
		t.Errorf("code %d, %s", code, stderr)
	}
	p.says(t, []string{"machines", "forget", "build2", "--force"}, "with the next one it is listed again")
}

// A turn that no pass works on, because its pass died, is not work of its machine.
func TestInterruptedTurnsAreNotWorkedOn(t *testing.T) {
	p := fleetOf(t)
	me := here(t, p)
	p.update(t, me, func(tx *store.Tx) error {
		turns, err := tx.ListUnfinishedTurns(t.Context())
		if err == nil {
			turns[0].Key = "dead"
			turns[0].ItemID, err = tx.AddItem(t.Context(), work.Item{RepoID: turns[0].RepoID, Number: 20, State: work.StateRunning})
		}
		if err == nil {
			turns[0].Number = 20
			_, err = tx.AddTurn(t.Context(), turns[0])
		}
		return err
	})
	_, stdout, stderr := p.shared(t, "machines")
	if strings.Contains(stdout, "#20") || !strings.Contains(stdout, "octo/app#13") {
		t.Errorf("%s%s", stdout, stderr)
	}
	p.says(t, []string{"machines", "forget", me}, "Forgot machine "+me)
}

// pause --all stops this machine first, and then all. While the database cannot be reached, it says so,
// and what to type later; resume --all ends both.
func TestPauseOfAllMachines(t *testing.T) {
	p := fleetOf(t)
	dirs := folder.Dirs{State: p.state}
	fleet := func() (f store.Fleet) {
		p.update(t, "build2", func(tx *store.Tx) (err error) { f, err = tx.GetFleet(t.Context()); return err })
		return f
	}
	p.says(t, []string{"pause", "--all", "the bill"}, "Paused all work on all machines.")
	if h, is := dirs.Halted(); !is || !h.Fleet || !fleet().PausedAt.Equal(h.Since) || fleet().Why != "the bill" {
		t.Fatalf("file %+v, row %+v", h, fleet())
	}
	p.says(t, []string{"pause", "--all"}, "It was paused already: ", "as on all machines, by ", " on "+here(t, p)+": the bill")
	p.says(t, []string{"status"}, "as on all machines, by ", " on "+here(t, p)+": the bill")
	p.says(t, []string{"resume", "--all"}, "The pause of all machines is over")
	if _, is := dirs.Halted(); is || !fleet().PausedAt.IsZero() {
		t.Fatalf("row %+v", fleet())
	}

	p.update(t, "build2", func(tx *store.Tx) error { return tx.PauseFleet(t.Context(), p.now, "ann", "said elsewhere") })
	for _, args := range [][]string{{"status"}, {"show", "octo/app#12"}, {"tick"}} {
		p.says(t, args, "as on all machines, by ann on build2: said elsewhere")
	}
	if _, is := dirs.Halted(); is {
		t.Error("the pause of all machines became that of this one")
	}
	p.says(t, []string{"resume", "--all"}, "The pause of all machines is over")

	away := filepath.Join(t.TempDir(), "state.db")
	if err := os.Rename(filepath.Join(p.state, "state.db"), away); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.state, "state.db"), bytes.Repeat([]byte("no database\n"), 1000), 0o600); err != nil { // it cannot be reached
		t.Fatal(err)
	}
	if h, is := dirs.Halted(); is {
		t.Fatalf("%+v", h)
	}
	for _, c := range []struct {
		verb, want string
		halted     bool
	}{
		{"pause", "pause them, too: gh mergexo --config " + p.config + " pause --all", true},
		{"resume", "resume all machines: gh mergexo --config " + p.config + " resume --all", false},
	} {
		code, stdout, stderr := p.shared(t, c.verb, "--all")
		if h, is := dirs.Halted(); code != 1 || is != c.halted || h.Fleet {
			t.Errorf("%s: code %d, halted %v %+v\n%s%s", c.verb, code, is, h, stdout, stderr)
		}
		if !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %s%s", c.verb, stdout, stderr)
		}
	}
}
