//go:build linux

package proc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// guarded runs a part of this test program in a new process, because Guard lasts until its process
// ends.
func guarded(t *testing.T, part string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGuardedPart$")
	cmd.Env = append(append(os.Environ(), "PROC_TEST_PART="+part), env...)
	return outputOf(t, cmd)
}

func outputOf(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestGuardedPart is that process.
func TestGuardedPart(t *testing.T) {
	parts := map[string]func(*testing.T, string){"orphans": orphansPart, "kept": keptPart, "environ": environPart, "grown": grownPart, "open": openPart, "key": keyPart, "relatives": relativesPart}
	part := parts[os.Getenv("PROC_TEST_PART")]
	if part == nil {
		t.Skip("a part of other tests")
	}
	if os.Getenv("PROC_TEST_UNGUARDED") == "" {
		if err := Guard(); err != nil {
			t.Fatal(err)
		}
	}
	part(t, os.Getenv("PROC_TEST_DIR"))
}

// markOf is a mark of this process. A run without the guard ends whatever has its mark on the whole machine, in the
// processes of other tests, too.
func markOf(run string) string { return fmt.Sprintf("MERGEXO_MARK=%s-%d", run, os.Getpid()) }

// leaver starts a grandchild with the given environment that leaves its family before any look.
func leaver(pidFile, env string) Cmd {
	c := sh(`setsid -f env -i ` + env + ` /bin/sh -c 'echo $$ >"$0"; exec /bin/sleep 60' "` + pidFile + `" </dev/null >/dev/null 2>&1; until [ -s "` + pidFile + `" ]; do sleep 0.01; done`)
	c.Mark = markOf("one")
	c.Env = append(c.Env, c.Mark)
	return c
}

func orphansPart(t *testing.T, dir string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	other := leaver(at("other"), markOf("two"))
	other.Args[1] += `; until [ -e "` + at("done") + `" ]; do sleep 0.01; done`
	other.Mark = markOf("two")
	other.Env[len(other.Env)-1] = other.Mark
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = Run(t.Context(), other)
	}()
	waitFor(t, at("other"))
	run(t, leaver(at("bare"), ""))
	run(t, leaver(at("forged"), markOf("forged")))
	if !alive(t, at("other")) {
		t.Error("the process of another run, which is alive, was ended")
	}
	if err := os.WriteFile(at("done"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-ended
	run(t, leaver(at("late"), markOf("two")))
}

// waitFor waits until a file has a complete line.
func waitFor(t *testing.T, file string) {
	t.Helper()
	for end := time.Now().Add(testhome.Patience()); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b, _ := os.ReadFile(file); bytes.HasSuffix(b, []byte("\n")) {
			return
		}
	}
	t.Fatalf("nothing in %s", file)
}

// A grandchild that drops its mark and leaves at once is killed with the run. So is one with its
// own mark, or the mark of an ended run. One of another live run is not. Without the guard they
// survive, so the guard is what kills them.
func TestOrphansAreEnded(t *testing.T) {
	t.Parallel()
	for _, guard := range []string{"", "PROC_TEST_UNGUARDED=1"} {
		dir := t.TempDir()
		guarded(t, "orphans", "PROC_TEST_DIR="+dir, guard)
		for _, name := range []string{"bare", "forged", "late"} {
			if file := filepath.Join(dir, name); guard == "" && !dead(t, file) || guard != "" && deadWithin(t, file, time.Second) {
				t.Errorf("%q: the %s one dead = %v", guard, name, guard != "")
			}
			endByFile(t, filepath.Join(dir, name))
		}
		if !dead(t, filepath.Join(dir, "other")) {
			t.Errorf("%q: the process of the other run outlives it", guard)
		}
	}
}

func endByFile(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if e, ok := readEntry(pidIn(t, f)); ok {
			killEntry(t.Context(), e)
		}
	}
}

func relativesPart(t *testing.T, dir string) {
	at := func(name string) string { return filepath.Join(dir, name) }
	// The shell waits without starting anything: while children of one process come and go, the kernel's
	// list of them may lack others.
	if err := syscall.Mkfifo(at("done"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := leaver(at("orphan"), "")
	c.Args[1] += `; /bin/sleep 60 & echo $! >"` + at("child") + `"; read -r _ <"` + at("done") + `"`
	c.Sandbox = true
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := Run(t.Context(), c); err != nil {
			t.Errorf("the run: %v", err)
		}
	}()
	waitFor(t, at("child"))
	table, err := processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, e := range table {
		seen[e.pid] = true
	}
	for _, name := range []string{"orphan", "child"} {
		if !seen[pidIn(t, at(name))] {
			t.Errorf("a look does not find the %s", name)
		}
	}
	for _, pid := range []int{1, os.Getppid(), os.Getpid()} {
		if seen[pid] {
			t.Errorf("a look reads process %d, which no program of ours started", pid)
		}
	}
	if err := os.WriteFile(at("done"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// With the guard a look at processes reads our descendants only: what loses its parent becomes our
// child, in any session. A process that outlives a sandbox is ended in the same way, without a mark.
func TestALookReadsOnlyOurDescendants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	guarded(t, "relatives", "PROC_TEST_DIR="+dir)
	for _, name := range []string{"orphan", "child"} {
		if !dead(t, filepath.Join(dir, name)) {
			t.Errorf("the %s of a sandbox lives on", name)
			endByFile(t, filepath.Join(dir, name))
		}
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func keptPart(t *testing.T, dir string) {
	c := sh(`setsid -f /bin/sh -c 'echo $$ >"$0"; exec /bin/sleep 60' "` + filepath.Join(dir, "daemon") + `" </dev/null >/dev/null 2>&1; until [ -s "` + filepath.Join(dir, "daemon") + `" ]; do sleep 0.01; done`)
	c.Survivors = LeaveSurvivors
	run(t, c)
	beside := exec.CommandContext(t.Context(), "/bin/sleep", "60") // like gh started by gh's library
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	run(t, leaver(filepath.Join(dir, "bare"), ""))
	if !alive(t, filepath.Join(dir, "daemon")) {
		t.Error("what git may leave behind was ended with an agent")
	}
	if _, ok := readEntry(beside.Process.Pid); !ok {
		t.Error("a child that this package did not start was ended")
	}
	_ = beside.Process.Kill()
	_ = beside.Wait()
}

// Others' processes are spared: a credential cache left by git, and programs started outside this
// package.
func TestGuardSparesOthers(t *testing.T) {
	dir := t.TempDir()
	guarded(t, "kept", "PROC_TEST_DIR="+dir)
	if !dead(t, filepath.Join(dir, "bare")) {
		t.Error("the agent's orphan lives on")
	}
	endByFile(t, filepath.Join(dir, "daemon"))
}

func environPart(t *testing.T, _ string) {
	res := run(t, sh(`tr '\0' '\n' </proc/$PPID/environ; echo done`))
	fmt.Printf("%s%s", res.Stdout, res.Stderr)
}

// An agent of the same user cannot read the environment of the pass that started it. Root can, so
// the test runs as nobody.
func TestEnvironmentOfThePass(t *testing.T) {
	for _, guard := range []string{"", "PROC_TEST_UNGUARDED=1"} {
		cmd := exec.CommandContext(t.Context(), publicCopy(t), "-test.run=^TestGuardedPart$")
		cmd.Dir = "/"
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PROC_TEST_PART=environ", "GH_TOKEN=canary", guard}
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		out := outputOf(t, cmd)
		if got, want := strings.Contains(out, "canary"), guard != ""; got != want || !strings.Contains(out, "done") {
			t.Errorf("%q: readable = %v: %s", guard, got, out)
		}
	}
}

// publicCopy copies this program to where every user can run it.
func publicCopy(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, "program")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInside(t *testing.T) {
	dir := t.TempDir()
	elsewhere := t.TempDir()
	look := func() bool {
		t.Helper()
		in, err := Inside(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	if look() {
		t.Error("somebody is in an empty folder")
	}
	if in, err := Inside(t.Context(), filepath.Join(dir, "none")); in || err != nil {
		t.Errorf("in a folder that is not there: %v, %v", in, err)
	}
	for name, script := range map[string]string{
		"stands there":      `cd "$1" && echo ready && exec sleep 60`,
		"holds a file open": `exec 5>"$1/held" && echo ready && exec sleep 60`,
	} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script, "sh", dir)
		cmd.Dir = elsewhere
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
			t.Fatal(err)
		}
		if !look() {
			t.Errorf("%s: not seen", name)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if look() {
			t.Errorf("%s: seen after its end", name)
		}
	}
}

// A wrapper dies of the signal at once, together with what it runs, so the signal goes to what it
// runs.
func TestWrappedProgramIsAsked(t *testing.T) {
	t.Parallel()
	patiently(t, func(slow time.Duration) (problem string) {
		c := sh(`setsid sh -c 'trap "echo asked; exit 7" INT; while :; do sleep 0.05; done'; exit $?`)
		c.Sandbox, c.EndSignal, c.Wall, c.Grace = true, syscall.SIGINT, slow*500*time.Millisecond, 30*time.Second
		if res := run(t, c); !strings.Contains(string(res.Stdout), "asked") || res.TimedOut != WallLimit {
			return fmt.Sprintf("result = %+v", res)
		}
		return ""
	})
}
