//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
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

// dead waits a moment for a process to end.
func dead(t *testing.T, file string) bool {
	t.Helper()
	for range 50 {
		if !alive(t, file) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
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
	c := sh(`trap '' TERM; echo started; while :; do sleep 0.1; done`)
	c.Wall = 300 * time.Millisecond
	began := time.Now()
	res := run(t, c)
	if res.TimedOut != WallLimit || res.Code != 128+9 || string(res.Stdout) != "started\n" {
		t.Errorf("result = %+v", res)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestEndSignalIsTheCallers(t *testing.T) {
	t.Parallel()
	c := sh(`trap 'echo asked; kill $!; exit 7' INT; sleep 60 >/dev/null 2>&1 & wait`)
	c.Wall, c.Grace, c.EndSignal = 300*time.Millisecond, 5*time.Second, syscall.SIGINT
	if res := run(t, c); res.Code != 7 || string(res.Stdout) != "asked\n" || res.TimedOut != WallLimit {
		t.Errorf("result = %+v", res)
	}
}

func TestIdleLimit(t *testing.T) {
	t.Parallel()
	c := sh(`for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.1; done; exec sleep 60`)
	c.Wall, c.Idle = 30*time.Second, 400*time.Millisecond
	res := run(t, c)
	if res.TimedOut != IdleLimit {
		t.Errorf("timed out = %q", res.TimedOut)
	}
	if !strings.HasSuffix(string(res.Stderr), "6\n") {
		t.Errorf("ended while it spoke: %q", res.Stderr)
	}
}

func TestGrandchildKeepsThePipe(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for real time")
	}
	t.Parallel()
	for _, survivors := range []Survivors{EndSurvivors, LeaveSurvivors} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		c := sh(`sh -c 'echo $$ >"$0"; exec sleep 20' "` + pidFile + `" & sleep 0.2; echo done`)
		c.Survivors = survivors
		began := time.Now()
		res := run(t, c)
		if string(res.Stdout) != "done\n" || res.Code != 0 {
			t.Errorf("%q: result = %+v", survivors, res)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: held for %v", survivors, took)
		}
		if got, want := dead(t, pidFile), survivors == EndSurvivors; got != want {
			t.Errorf("%q: survivor dead = %v", survivors, got)
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
	time.AfterFunc(300*time.Millisecond, cancel)
	_, err := Run(ctx, sh(`sh -c 'trap "" TERM; echo $$ >"$0"; while :; do sleep 1; done' "`+pidFile+`"`))
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
