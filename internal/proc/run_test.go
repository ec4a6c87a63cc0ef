//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func sh(script string) Cmd {
	return Cmd{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}, Grace: 200 * time.Millisecond}
}

func run(t *testing.T, c Cmd) Result {
	t.Helper()
	res, err := Run(t.Context(), c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return res
}

// alive reports whether the process of a pid file runs and is no zombie.
func alive(t *testing.T, file string) bool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("no pid file: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range table {
		if e.pid == pid {
			return true
		}
	}
	return false
}

// dead waits for a process to end.
func dead(t *testing.T, file string) bool {
	t.Helper()
	return deadWithin(t, file, testhome.Patience())
}

func deadWithin(t *testing.T, file string, patience time.Duration) bool {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(20 * time.Millisecond) {
		if !alive(t, file) {
			return true
		}
	}
	return false
}

// patiently tries something with short times, and with longer ones if the machine was too busy for
// these. What is wrong is wrong each time.
func patiently(t *testing.T, try func(slow time.Duration) (problem string)) {
	t.Helper()
	for slow := time.Duration(1); ; slow *= 2 {
		problem := try(slow)
		if problem == "" {
			return
		}
		if slow == 8 {
			t.Error(problem)
			return
		}
	}
}

func TestRunPassesWhatItIsTold(t *testing.T) {
	c := sh(`cat; pwd; echo "$A-$HOME" >&2; exit 3`)
	c.Dir = t.TempDir()
	c.Env = append(c.Env, "A=b")
	c.Stdin = []byte("in ")
	var log, errLog bytes.Buffer
	c.Stdout, c.Stderr = &log, &errLog
	res := run(t, c)
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Stdout), "in "+dir+"\n"; got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
	if string(res.Stderr) != "b-\n" { // nothing is inherited
		t.Errorf("stderr = %q", res.Stderr)
	}
	if res.Code != 3 || res.TimedOut != NoLimit || res.Truncated {
		t.Errorf("result = %+v", res)
	}
	if log.String() != string(res.Stdout) || errLog.String() != string(res.Stderr) {
		t.Errorf("copies = %q, %q", log.String(), errLog.String())
	}
}

func TestRunSignalIsACode(t *testing.T) {
	if res := run(t, sh(`kill -KILL $$`)); res.Code != 128+9 {
		t.Errorf("code = %d", res.Code)
	}
}

func TestRunInputNobodyReads(t *testing.T) {
	c := sh(`exit 0`)
	c.Stdin = bytes.Repeat([]byte("x"), 1<<20)
	if res := run(t, c); res.Code != 0 {
		t.Errorf("code = %d", res.Code)
	}
}

func TestRunCannotStart(t *testing.T) {
	_, err := Run(t.Context(), Cmd{Path: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
}

func TestHangIgnoringSIGTERM(t *testing.T) {
	t.Parallel()
	patiently(t, func(slow time.Duration) (problem string) {
		c := sh(`trap '' TERM; echo started; while :; do sleep 0.1; done`)
		c.Wall = slow * 300 * time.Millisecond
		began := time.Now()
		res := run(t, c)
		if took := time.Since(began); res.TimedOut != WallLimit || res.Code != 128+9 || string(res.Stdout) != "started\n" || took > 30*time.Second {
			return fmt.Sprintf("after %v: %+v", took, res)
		}
		return ""
	})
}

func TestEndSignalIsTheCallers(t *testing.T) {
	t.Parallel()
	patiently(t, func(slow time.Duration) (problem string) {
		c := sh(`trap 'echo asked; kill $!; exit 7' INT; sleep 60 >/dev/null 2>&1 & wait`)
		c.Wall, c.Grace, c.EndSignal = slow*300*time.Millisecond, 30*time.Second, syscall.SIGINT
		if res := run(t, c); res.Code != 7 || string(res.Stdout) != "asked\n" || res.TimedOut != WallLimit {
			return fmt.Sprintf("result = %+v", res)
		}
		return ""
	})
}

func TestIdleLimit(t *testing.T) {
	t.Parallel()
	patiently(t, func(slow time.Duration) (problem string) {
		c := sh(fmt.Sprintf(`for i in 1 2 3 4 5 6; do echo $i >&2; sleep %g; done; exec sleep 60`, 0.1*float64(slow)))
		c.Wall, c.Idle = 30*time.Second, slow*400*time.Millisecond
		if res := run(t, c); res.TimedOut != IdleLimit || !strings.HasSuffix(string(res.Stderr), "6\n") {
			return fmt.Sprintf("ended at %q, while it said %q", res.TimedOut, res.Stderr)
		}
		return ""
	})
}

func TestGrandchildKeepsThePipe(t *testing.T) {
	testhome.OnlyLong(t)
	t.Parallel()
	for _, survivors := range []Survivors{EndSurvivors, LeaveSurvivors} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		c := sh(`sh -c 'echo $$ >"$0"; exec sleep 60' "` + pidFile + `" & until [ -s "` + pidFile + `" ]; do sleep 0.01; done; echo done`)
		c.Survivors = survivors
		began := time.Now()
		res := run(t, c)
		if string(res.Stdout) != "done\n" || res.Code != 0 {
			t.Errorf("%q: result = %+v", survivors, res)
		}
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%q: held for %v", survivors, took)
		}
		if survivors == EndSurvivors && !dead(t, pidFile) || survivors == LeaveSurvivors && deadWithin(t, pidFile, time.Second) {
			t.Errorf("%q: survivor dead = %v", survivors, survivors == LeaveSurvivors)
		}
	}
}

func TestFloodIsEnded(t *testing.T) {
	c := sh(`while :; do echo 0123456789012345678901234567890123456789; done`)
	c.MaxOutput = 100_000
	c.Wall = time.Minute
	res := run(t, c)
	if !res.Truncated || len(res.Stdout) != 100_000 || res.TimedOut != NoLimit {
		t.Errorf("truncated %v, %d bytes, limit %q", res.Truncated, len(res.Stdout), res.TimedOut)
	}
}

func TestOutputAtTheLimitIsNotTruncated(t *testing.T) {
	c := sh(`printf 12345`)
	c.MaxOutput = 5
	if res := run(t, c); res.Truncated || string(res.Stdout) != "12345" {
		t.Errorf("result = %+v", res)
	}
}

func TestErrorOutputKeepsItsEnd(t *testing.T) {
	res := run(t, sh(`i=0; while [ $i -lt 6000 ]; do echo "line $i of a long story that nobody reads" >&2; i=$((i+1)); done`))
	if len(res.Stderr) != maxStderr || !strings.HasSuffix(string(res.Stderr), "line 5999 of a long story that nobody reads\n") {
		t.Errorf("%d bytes, end %q", len(res.Stderr), res.Stderr[max(0, len(res.Stderr)-60):])
	}
}

func TestCancelEndsTheGroup(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	c := sh(`sh -c 'trap "" TERM; echo $$ >"$0"; echo up; while :; do sleep 1; done' "` + pidFile + `"`)
	c.Stdout = reacts(func(string) { cancel() })
	_, err := Run(ctx, c)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if !dead(t, pidFile) {
		t.Error("a child that ignores the signal lives on")
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	list := "relative" + string(filepath.ListSeparator) + dir
	if got, err := LookPath("tool", list); err != nil || got != program {
		t.Errorf("tool = %q, %v", got, err)
	}
	if got, err := LookPath(program, ""); err != nil || got != program {
		t.Errorf("by path = %q, %v", got, err)
	}
	for _, name := range []string{"plain", "none"} {
		if got, err := LookPath(name, list); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s = %q, %v", name, got, err)
		}
	}
	t.Chdir(dir)
	if got, err := LookPath("tool", "."); err == nil {
		t.Errorf("found in the working directory: %q", got)
	}
}

// appendTo opens a log that is closed after the test.
func appendTo(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestDetachOutlivesAndReturnsAtOnce(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	env := []string{"PATH=" + os.Getenv("PATH"), "W=word"}
	if err := Detach(t.Context(), "/bin/sh", []string{"-c", `echo "$W"; pwd; until [ -e go ]; do sleep 0.05; done; echo gone on`}, env, dir, appendTo(t, log)); err != nil {
		t.Fatal(err)
	}
	// It is back, and the program waits for us.
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if b, _ := os.ReadFile(log); strings.HasPrefix(string(b), "word\n/") && strings.HasSuffix(string(b), "gone on\n") {
			return
		}
		time.Sleep(30 * time.Millisecond)
	}
	t.Error("nothing in the log")
}

// Active is called when a program prints.
func TestSignsOfLifeAreTold(t *testing.T) {
	told := 0
	_, err := Run(t.Context(), Cmd{Path: "/bin/sh", Args: []string{"-c", "echo a; sleep 0.2; echo b >&2; sleep 0.2"}, Active: func() { told++ }})
	if err != nil || told < 2 {
		t.Errorf("told %d times, %v", told, err)
	}
}
