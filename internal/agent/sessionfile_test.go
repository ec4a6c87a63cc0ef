//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

const someSession = "0199aaaa-1111-7222-8333-444455556666"

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

// homesOf are a home of each program, the folder that holds its sessions' folders,
// and where a session's file lies below that.
func homesOf(t *testing.T) map[string][3]string {
	return map[string][3]string{
		codexName:  {t.TempDir(), "sessions", "2026/11/22/rollout-2026-11-22T10-00-00-" + someSession + ".jsonl"},
		claudeName: {t.TempDir(), "projects", "-a-checkout/" + someSession + ".jsonl"},
	}
}

func specOf(adapter, home string) agent.Spec {
	return agent.Spec{Name: "a", Adapter: adapters[adapter], Environ: []string{adapters[adapter].Variable + "=" + home}, Redact: func(s string) string { return s }, Now: time.Now}
}

// An agent may fill its program's folder with links that lead back to it: every
// way through them is another path, and there is no end of those.
func TestASessionsFileIsFoundAmongLinksThatLeadRound(t *testing.T) {
	for adapter, home := range homesOf(t) {
		root := filepath.Join(home[0], home[1])
		file := filepath.Join(root, home[2])
		mustDo(t, os.MkdirAll(filepath.Dir(file), 0o700))
		for _, dir := range []string{root, filepath.Dir(file)} {
			for i := range 300 {
				mustDo(t, os.Symlink(".", filepath.Join(dir, strings.Repeat("9", i%5)+"x"+time.Duration(i).String())))
				_ = os.Symlink(".", filepath.Join(dir, time.Unix(0, 0).AddDate(i, 0, 0).Format("2006")))
			}
		}
		s := specOf(adapter, home[0])
		soon(t, adapter+": a search for no file", func() {
			if got := s.SessionFile(someSession); got != "" {
				t.Errorf("%s: found %s, which is not there", adapter, got)
			}
		})
		mustDo(t, os.WriteFile(file, []byte("{}\n"), 0o600))
		soon(t, adapter+": a search", func() {
			if got := s.SessionFile(someSession); got != file {
				t.Errorf("%s: found %q, want %q", adapter, got, file)
			}
		})
	}
}

// A pipe or a link in the place of a session's file is not read: the one would
// never end, the other may lead to what the agent may not see.
func TestWhatIsNoSessionsFileIsNotRead(t *testing.T) {
	for adapter, home := range homesOf(t) {
		file := filepath.Join(home[0], home[1], home[2])
		mustDo(t, os.MkdirAll(filepath.Dir(file), 0o700))
		secret := filepath.Join(t.TempDir(), "secret")
		mustDo(t, os.WriteFile(secret, []byte("secret\n"), 0o600))
		for _, put := range []func() error{
			func() error { return syscall.Mkfifo(file, 0o600) },
			func() error { return os.Symlink(secret, file) },
			func() error { return os.Mkdir(file, 0o700) },
		} {
			mustDo(t, put())
			soon(t, adapter+": reading", func() {
				if got := specOf(adapter, home[0]).SessionFile(someSession); got != "" {
					t.Errorf("%s: found %s", adapter, got)
				}
				j := agent.Journal{Path: file}
				j.More(func(line []byte) { t.Errorf("%s: read %q", adapter, line) })
				if f, err := os.OpenFile(file, os.O_RDONLY|files.OpenSafely, 0); err == nil { // as if it came between the look and the open
					_ = f.Close()
				}
			})
			mustDo(t, os.Remove(file))
		}
	}
}
