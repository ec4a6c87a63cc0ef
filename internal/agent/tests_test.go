package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// tests runs a shell script as the required tests.
func tests(t *testing.T, wall time.Duration, script string) (agent.Tested, string, error) {
	t.Helper()
	s := spec(t, "agent")
	s.Plain, s.Environ = s.Environ, append(s.Environ, "PROVIDER_KEY=sk-secret")
	a, err := agent.New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := request(t)
	r.Wall = wall
	got, err := a.Test(t.Context(), r, []string{"sh", "-c", script})
	return got, r.Dir, err
}

func TestRequiredTestsRunAsTheAgentDoes(t *testing.T) {
	t.Setenv("GH_TOKEN", "gho_secret")
	got, dir, err := tests(t, time.Minute, `pwd; env; exit 0`)
	if err != nil || got.Failure != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if !strings.Contains(got.Output, filepath.Base(dir)) || !strings.Contains(got.Output, "GIT_CONFIG_NOSYSTEM=1") || !strings.Contains(got.Output, "MERGEXO_TURN="+turnKey) {
		t.Errorf("output %q", got.Output)
	}
	if strings.Contains(got.Output, "gho_secret") || strings.Contains(got.Output, "GH_TOKEN") || strings.Contains(got.Output, "PROVIDER_KEY") {
		t.Error("the tests see a credential")
	}
}

func TestRequiredTestsFail(t *testing.T) {
	for script, want := range map[string]string{
		"echo no; echo way >&2; exit 3":              "ended with exit code 3",
		"kill -9 $$":                                 "ended with exit code 137",
		"yes 'a long line of what nobody reads'":     "printed more than 16 MiB",
		"yes 'a long line of what nobody reads' >&2": "printed more than 16 MiB",
	} {
		got, _, err := tests(t, time.Minute, script)
		if err != nil || got.Failure != want {
			t.Errorf("%s: %q, %v; want %q", script, got.Failure, err, want)
		}
		if len(got.Output) > 25<<10 {
			t.Errorf("%s: %d bytes are kept", script, len(got.Output))
		}
	}
	got, _, err := tests(t, time.Minute, "echo no; exit 1")
	if err != nil || got.Output != "no\n" {
		t.Errorf("output %q, %v", got.Output, err)
	}
}

func TestRequiredTestsHang(t *testing.T) {
	for wall := 300 * time.Millisecond; ; wall *= 3 {
		got, dir, err := tests(t, wall, "echo begun; sleep 600 & sleep 600; echo never > ended")
		if err == nil && got.Output == "" && wall < time.Minute {
			continue // the machine was too busy to begin in the time
		}
		if err != nil || got.Failure != "did not end within "+wall.String() || got.Output != "begun\n" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ended")); err == nil {
			t.Error("they went on")
		}
		return
	}
}

func TestRequiredTestsMissing(t *testing.T) {
	a, err := agent.New(spec(t, "agent"))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t)
	if err := os.WriteFile(filepath.Join(r.Dir, "plain"), []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"no-such-program", "./no-such-script", "/no/such/path", "./plain"} {
		_, err := a.Test(t.Context(), r, []string{name})
		var blocked *work.BlockedError
		if !errors.As(err, &blocked) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), "cannot be started") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What cannot be started is found out before an agent is paid; what only may not be
// there is left to the tests themselves.
func TestProgramsOfRequiredTestsAreLookedFor(t *testing.T) {
	a, err := agent.New(spec(t, "agent"))
	if err != nil {
		t.Fatal(err)
	}
	r := request(t)
	for name, mode := range map[string]os.FileMode{"plain": 0o600, "script": 0o700} {
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte("#!/bin/sh\nexit 3\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		argv    []string
		missing string // the program that is named; empty: nothing is said
	}{
		{[]string{"no-such-program"}, "no-such-program"},
		{[]string{"./no-such-script"}, "no-such-script"},
		{[]string{"/no/such/path"}, "path"},
		{[]string{"./plain"}, "plain"},
		{[]string{r.Dir}, filepath.Base(r.Dir)},
		{[]string{"./script"}, ""},
		{[]string{"sh", "no-such-script"}, ""}, // what it makes of that is its own
		{[]string{"sh", "-c", "no-such-program --all"}, "no-such-program"},
		{[]string{"/bin/sh", "-c", "./no-such-script"}, "no-such-script"},
		{[]string{"sh", "-c", "./script all"}, ""},
		{[]string{"sh", "-c", "cd . && no-such-program"}, ""},
		{[]string{"sh", "-c", "X=1 no-such-program"}, ""},
		{[]string{"sh", "-c", "test -e x"}, ""},
		{[]string{"sh", "-c", "! true"}, ""},
		{[]string{"sh", "-ec", "no-such-program"}, ""},
		{[]string{"env", "-c", "no-such-program"}, ""},
	} {
		err := a.CanTest(t.Context(), r, c.argv)
		var blocked *work.BlockedError
		switch {
		case c.missing == "" && err != nil:
			t.Errorf("%q: %v", c.argv, err)
		case c.missing != "" && (!errors.As(err, &blocked) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), `program "`+c.missing+`"`) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "required_tests")):
			t.Errorf("%q: %v", c.argv, err)
		}
	}
	left, err := os.ReadDir(r.Dir)
	if err != nil || len(left) != 2 {
		t.Errorf("it left %v, %v", left, err)
	}
}
