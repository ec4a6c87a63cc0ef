//go:build linux

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A descendant in its own session without a parent was recorded before, and is killed after its
// start time is checked.
func TestSetsidGrandchild(t *testing.T) {
	t.Parallel()
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid program")
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	patiently(t, func(slow time.Duration) (problem string) {
		c := sh(setsid + ` sh -c 'trap "" TERM HUP; echo $$ >"$0"; while :; do sleep 1; done' "` + pidFile + `" & sleep 60`)
		c.Wall = slow * 500 * time.Millisecond
		began := time.Now()
		res := run(t, c)
		written, _ := os.ReadFile(pidFile)
		if took := time.Since(began); res.TimedOut != WallLimit || took > 30*time.Second || len(written) == 0 {
			return fmt.Sprintf("after %v: %+v", took, res)
		}
		return ""
	})
	if !dead(t, pidFile) {
		t.Error("the grandchild lives on")
	}
}

// A descendant that was never recorded is found by its mark.
func TestMarkFindsTheUnseen(t *testing.T) {
	t.Parallel()
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("no setsid program")
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	c := sh(setsid + ` -f sh -c 'echo $$ >"$0"; exec sleep 60' "` + pidFile + `" >/dev/null 2>&1; until [ -s "` + pidFile + `" ]; do sleep 0.01; done`)
	c.Mark = "MERGEXO_TURN=unseen" + t.Name()
	c.Env = append(c.Env, c.Mark)
	run(t, c)
	if !dead(t, pidFile) {
		t.Error("the marked survivor lives on")
	}
}

func TestEndMarkedEndsOnlyTheMarked(t *testing.T) {
	mark := "MERGEXO_TURN=abc" + t.Name()
	start := func(env ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "/bin/sleep", "60")
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	marked := start("A=1", mark, "B=2")
	others := []*exec.Cmd{start(mark + "d"), start("X" + mark), start("OTHER=" + mark), start()}
	for _, c := range append(others, marked) { // exec replaces the environment
		for len(environment(c.Process.Pid)) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	n, err := EndMarked(t.Context(), mark)
	if err != nil || n != 1 {
		t.Errorf("ended %d, %v", n, err)
	}
	_ = marked.Wait()
	if code := exitCode(marked.ProcessState); code != 128+9 {
		t.Errorf("marked: code %d", code)
	}
	for i, o := range others {
		if _, ok := readEntry(o.Process.Pid); !ok {
			t.Errorf("other %d was ended", i)
		}
		_ = o.Process.Kill()
		_ = o.Wait()
	}
	if n, err := EndMarked(t.Context(), mark); n != 0 || err != nil {
		t.Errorf("second time: %d, %v", n, err)
	}
}

// A pid that was reused is not signalled.
func TestReusedPidIsSpared(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "/bin/sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	e, ok := readEntry(cmd.Process.Pid)
	if !ok {
		t.Fatal("no entry")
	}
	e.start += "0"
	if killEntry(t.Context(), e) {
		t.Error("killed by pid alone")
	}
	if _, ok := readEntry(e.pid); !ok {
		t.Error("it is gone")
	}
}

func TestDieWithParent(t *testing.T) {
	if os.Getenv("PROC_TEST_PARENT") != "" {
		c := Cmd{Path: "/bin/sh", Args: []string{"-c", `echo $$ >"$0"; exec sleep 60`, os.Getenv("PROC_TEST_PARENT")}, DieWithParent: true}
		_, _ = Run(t.Context(), c)
		return
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDieWithParent$")
	parent.Env = append(os.Environ(), "PROC_TEST_PARENT="+pidFile)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, pidFile)
	if !alive(t, pidFile) {
		t.Fatal("the child did not start")
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if !dead(t, pidFile) {
		t.Error("the child outlived its parent")
	}
}
