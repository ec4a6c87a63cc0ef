package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A copy of a state folder on a machine with another id is another installation. The name on each
// machine, also on one without an id, never changes.
func TestInstallationOfACopy(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	names := map[string]string{}
	for _, machine := range []string{"one", "two", "", "one", "two", ""} {
		name, err := d.Installation(machine)
		if err != nil {
			t.Fatal(err)
		}
		if before, known := names[machine]; known && before != name {
			t.Errorf("on machine %q it was %q and is %q", machine, before, name)
		}
		names[machine] = name
	}
	if names["one"] == names["two"] || names["one"] == names[""] || names[""] == "" {
		t.Errorf("the names are %q", names)
	}
}

// Without a name in the config, each state folder is a machine of its own, also on one host, and keeps its name.
func TestAMachinesNameIsItsFolders(t *testing.T) {
	names := map[string]bool{}
	for _, d := range []Dirs{{State: t.TempDir()}, {State: t.TempDir()}} {
		for range 2 {
			if _, err := d.Installation(MachineID()); err != nil {
				t.Fatal(err)
			}
			name, err := d.MachineName("")
			if named, _ := d.MachineName("box"); name == "" || named != "box" || err != nil {
				t.Errorf("%q, or named %q, %v", name, named, err)
			}
			names[name] = true
		}
	}
	if len(names) != 2 {
		t.Errorf("two folders have the names %v", names)
	}
}

// A state folder is one machine's: another one, also with a copy, stops for an hour after the last
// pass there, unless it is told that passes there have ended.
func TestAStateFolderIsUsedOnOneMachine(t *testing.T) {
	d, now := Dirs{State: t.TempDir()}, time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	old, fresh := Machine{ID: "a", Name: "old"}, Machine{ID: "b", Name: "new"}
	use := func(m Machine, after time.Duration) (former string, elsewhere bool) {
		t.Helper()
		was, err := d.UseOn(m, now.Add(after))
		e, elsewhere := errors.AsType[*ElsewhereError](err)
		if err != nil && !elsewhere {
			t.Fatal(err)
		}
		if elsewhere && (e.File != filepath.Join(d.State, "machine") || !strings.Contains(err.Error(), "rm '"+e.File+"'")) {
			t.Errorf("it says %q", err)
		}
		if was != nil {
			former = was.Name
		}
		return former, elsewhere
	}
	for n, c := range []struct {
		m         Machine
		after     time.Duration
		former    string
		elsewhere bool
	}{
		{old, 0, "", false},
		{old, time.Minute, "", false},
		{Machine{Name: "a container"}, 2 * time.Minute, "", false}, // without an id
		{fresh, 3 * time.Minute, "old", true},
		{fresh, 4 * time.Minute, "old", true},
		{old, 7 * time.Minute, "", false}, // goes on
		{fresh, 66 * time.Minute, "old", true},
		{fresh, 67 * time.Minute, "old", false},
		{old, 68 * time.Minute, "new", true},
	} {
		if former, elsewhere := use(c.m, c.after); former != c.former || elsewhere != c.elsewhere {
			t.Errorf("%d: %q, %v; want %q, %v", n, former, elsewhere, c.former, c.elsewhere)
		}
	}
	if err := os.Remove(filepath.Join(d.State, "machine")); err != nil {
		t.Fatal(err)
	}
	if former, elsewhere := use(old, 69*time.Minute); former != "" || elsewhere {
		t.Errorf("after it was told: %q, %v", former, elsewhere)
	}
}
