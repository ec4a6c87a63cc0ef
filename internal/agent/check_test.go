package agent_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/claude"
	"github.com/mergexo/gh-mergexo/internal/agent/codex"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

func check(t *testing.T, s agent.Spec, r agent.Request) error {
	t.Helper()
	a, err := agent.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return a.Check(t.Context(), r)
}

func TestACheckOfARealAgentCostsNothingAndLeavesNothing(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		for _, mode := range []work.Mode{work.ModeWrite, work.ModeRead} {
			q := r.request("")
			q.Mode = mode
			began := time.Now()
			if err := check(t, r.spec, q); err != nil {
				t.Errorf("%s: %v", mode, err)
			}
			t.Logf("%s: %s", mode, time.Since(began))
		}
		if n := len(r.model.Queries()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
		cmd := exec.Command("git", "status", "--porcelain", "--ignored", "--untracked-files=all")
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) != 0 {
			t.Errorf("%v, left: %s", err, out)
		}
		entries, err := os.ReadDir(r.dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("left %v, %v", entries, err)
		}
	})
}

// unable checks that a check is for a person, and that GitHub is not told what
// the system said.
func unable(t *testing.T, what string, err error, detail string) {
	t.Helper()
	var blocked *work.BlockedError
	if !errors.As(err, &blocked) || !strings.Contains(blocked.Reason.Local, detail) || strings.Contains(explain.What(blocked.Reason, explain.Place{})+explain.Reason(blocked.Reason, explain.Place{}).Next(), detail) || explain.Reason(blocked.Reason, explain.Place{}).Next() == "" {
		t.Errorf("%s: %v", what, err)
	}
}

func TestASandboxInWhichNothingRunsIsForAPerson(t *testing.T) {
	const says = "bwrap: Can't mkdir parents for /state/worker-0.box: Read-only file system"
	onReal(t, func(t *testing.T, r *rig) {
		box := program(t, `echo "`+says+`" >&2; exit 1`)
		r.spec.Wrap = func(argv []string, _ work.Job) ([]string, []string, error) {
			return append([]string{box}, argv...), nil, nil
		}
		unable(t, "all fails", check(t, r.spec, r.request("")), says)
	})
	s := spec(t, program(t, "true"))
	box := program(t, `echo "`+says+`" >&2; exit 1`)
	s.Wrap = func(argv []string, _ work.Job) ([]string, []string, error) {
		return append([]string{box}, argv...), nil, nil
	}
	unable(t, "command", check(t, s, request(t)), says)
}

// readOnly is a box in which nothing can be written.
func readOnly(t *testing.T) func([]string, work.Job) ([]string, []string, error) {
	t.Helper()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip("no bubblewrap to make a box with")
	}
	if out, err := exec.Command(bwrap, "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("bubblewrap makes no box here: %s", out)
	}
	return func(argv []string, _ work.Job) ([]string, []string, error) {
		return append([]string{bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}, argv...), nil, nil
	}
}

func TestACheckoutThatCannotBeWrittenIsForAPerson(t *testing.T) {
	box := readOnly(t)
	onReal(t, func(t *testing.T, r *rig) {
		r.spec.Wrap = box
		unable(t, "write", check(t, r.spec, r.request("")), "ead-only file system")
	})
	s := spec(t, program(t, "exit 0"))
	s.Wrap = box
	r := request(t)
	unable(t, "command", check(t, s, r), "ead-only file system")
	r.Mode = work.ModeRead
	if err := check(t, s, r); err != nil {
		t.Errorf("a turn that only reads: %v", err)
	}
}

func TestCodexsOwnSandboxIsTried(t *testing.T) {
	s := spec(t, program(t, `echo "$@" >> asked; case "$1" in --version) echo codex-cli 0.166.0;; sandbox) echo "sandbox error: no user namespaces" >&2; exit 1;; esac`))
	s.Adapter, s.Now = codex.Adapter, time.Now
	s.Args = []string{"-c", "a=1", "--search", "--config=b=2"}
	r := request(t)
	unable(t, "codex", check(t, s, r), "no user namespaces")
	asked, err := os.ReadFile(filepath.Join(r.Dir, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`sandbox -c sandbox_mode="workspace-write"`, "-c a=1", "-c b=2", `trust_level="untrusted"`} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("no %s in %s", want, asked)
		}
	}
	if strings.Contains(string(asked), "--search") {
		t.Errorf("asked %s", asked)
	}
	// One that knows no such command shows in its turns what it can do.
	s.Command = []string{program(t, `case "$1" in --version) echo codex-cli 0.166.0; exit 0;; esac; echo "error: unrecognized subcommand

Usage: codex [OPTIONS]" >&2; exit 2`)}
	if err := check(t, s, r); err != nil {
		t.Errorf("an older codex: %v", err)
	}
}

func TestAProgramThatDoesNotStartIsForAPerson(t *testing.T) {
	s := spec(t, program(t, "echo 'node: bad option' >&2; exit 1"))
	s.Adapter, s.Now = claude.Adapter, time.Now
	unable(t, "claude", check(t, s, request(t)), "bad option")
	for _, adapter := range []string{codexName, claudeName, commandName} {
		s := spec(t, "/nowhere/agent")
		s.Adapter, s.Now = adapters[adapter], time.Now
		var blocked *work.BlockedError
		if err := check(t, s, request(t)); !errors.As(err, &blocked) {
			t.Errorf("%s: %v", adapter, err)
		}
	}
}
