package notify

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func message() Message {
	return Message{ID: "d1", Event: "question", Body: `{"version":1,"title":"a <b> & \"c\""}`, At: noon}
}

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tell")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommand(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GH_TOKEN", "ghp_never")
	tell := script(t, `cat > "$1/got"; env > "$1/env"; echo "told $2"`)
	a := Send(t.Context(), Target{Command: []string{tell, dir, `$(date) "x"`}, Env: []string{"PATH=/usr/bin:/bin", "KEY=k"}, Dir: dir, Timeout: time.Minute}, message())
	if a.Fate != Taken || a.Says != `it ended with exit code 0: told $(date) "x"` {
		t.Fatalf("%+v", a)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "got")); string(got) != message().Body+"\n" {
		t.Errorf("%q", got)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "env"))
	if !strings.Contains(string(env), "KEY=k\n") || strings.Contains(string(env), "ghp_never") {
		t.Errorf("%s", env)
	}
}

func TestCommandThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		does string
		fate Fate
		says string
	}{
		"exit code":       {"echo 'no route to it' >&2; exit 7", Refused, "it ended with exit code 7: no route to it"},
		"prints too much": {"yes", Refused, "it printed more than may be"},
		"reads nothing":   {"exit 0", Taken, "it ended with exit code 0"},
	} {
		a := Send(t.Context(), Target{Command: []string{script(t, c.does)}, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Minute}, message())
		if a.Fate != c.fate || !strings.HasPrefix(a.Says, c.says) {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := Send(t.Context(), Target{Command: []string{filepath.Join(t.TempDir(), "absent")}, Timeout: time.Minute}, message()); a.Fate != Unreached {
		t.Errorf("%+v", a)
	}
}

// What a program started is ended with it once its time is over: nobody has the pipe open
// any more.
func TestCommandEndsInTime(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	if err := exec.CommandContext(t.Context(), "mkfifo", alive).Run(); err != nil {
		t.Fatal(err)
	}
	reads, err := os.OpenFile(alive, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait for the program, which may end before it has begun
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	a := Send(t.Context(), Target{
		Command: []string{script(t, `exec 9>"$1"; sleep 300 & sleep 300`), alive}, Env: []string{"PATH=/usr/bin:/bin"}, Timeout: time.Second,
	}, message())
	if a.Fate != Refused || a.Says != "it did not end within 1s" {
		t.Errorf("%+v", a)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(reads)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testhome.Patience()):
		t.Error("what it started went on")
	}
}

// Whoever sends may have less time than the target: what it says is not the target's limit.
func TestNoTimeLeft(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	target := Target{Command: []string{script(t, "exec sleep 60")}, Dir: t.TempDir(), Timeout: time.Minute}
	if a := Send(ctx, target, message()); a.Fate != Refused || a.Says != "there was no time left to wait for an answer" {
		t.Errorf("%+v", a)
	}
}
