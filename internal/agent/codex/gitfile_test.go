//go:build unix

package codex

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// soon fails a test in which something takes too long.
func soon(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(testhome.Patience()):
		t.Fatalf("%s does not end", what)
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A checkout's .git is the agent's to write: a sparse file of terabytes is not read
// into memory, and a pipe is not waited for.
func TestAGitFileThatIsNoneIsNotRead(t *testing.T) {
	dir := t.TempDir()
	git := filepath.Join(dir, ".git")
	mustDo(t, os.WriteFile(git, []byte("gitdir: /repo/.git/worktrees/x\n"), 0o600))
	if got := mainWorktree(dir); len(got) != 1 || got[0] != "/repo" {
		t.Fatalf("got %q", got)
	}
	mustDo(t, os.Truncate(git, 1<<42))
	soon(t, "a huge file", func() {
		if got := mainWorktree(dir); got != nil {
			t.Errorf("got %q", got)
		}
	})
	mustDo(t, os.Remove(git))
	mustDo(t, syscall.Mkfifo(git, 0o600))
	soon(t, "a pipe", func() {
		if got := mainWorktree(dir); got != nil {
			t.Errorf("got %q", got)
		}
	})
}
