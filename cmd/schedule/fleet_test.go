package schedule

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// The other machines do not miss one whose schedule was removed. Where they cannot be told, a person is told
// what to type there.
func TestOtherMachinesDoNotMissThisOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.At(dir).Installation(folder.MachineID()); err != nil {
		t.Fatal(err)
	}
	var problems bytes.Buffer
	r := &room{&cli.App{Now: time.Now, Env: cli.Env{Shared: true, Strict: true, Twice: true, Stdout: &problems, Stderr: &problems}}}
	cfg := &config.Config{}
	cfg.Runtime.StateDir = dir
	here := cli.ThisMachine(cfg)
	machines := func() (all []work.Machine) {
		t.Helper()
		_, err := r.WithFleet(t.Context(), cfg, func(tx *store.Tx) (err error) { all, err = tx.ListMachines(t.Context()); return err })
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	_, err := r.WithFleet(t.Context(), cfg, func(tx *store.Tx) error {
		return tx.PutMachine(t.Context(), work.Machine{Name: here, BeganAt: time.Now().Add(-time.Hour), SilentAfter: time.Minute})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.noteRemoved(t.Context(), cfg)
	if m := machines(); len(m) != 1 || m[0].Stopped != work.MachineUnscheduled {
		t.Errorf("%+v", m)
	}
	if problems.Len() > 0 {
		t.Error(problems.String())
	}

	if err := os.WriteFile(filepath.Join(dir, "state.db"), bytes.Repeat([]byte("no database\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	r.noteRemoved(t.Context(), cfg)
	if n := strings.Count(problems.String(), "gh mergexo machines forget "+here+"\n"); n != 1 {
		t.Error(problems.String())
	}
	problems.Reset()
	r.Env.Shared = false
	r.noteRemoved(t.Context(), cfg)
	if problems.Len() > 0 {
		t.Error(problems.String())
	}
}
