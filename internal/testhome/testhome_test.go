//go:build unix

package testhome_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestAHomeIsOutsideTemporaryFoldersAndGoneAfterwards(t *testing.T) {
	var homes []string
	t.Run("two", func(t *testing.T) {
		homes = []string{testhome.New(t), testhome.New(t)}
		for _, home := range homes {
			if strings.HasPrefix(home, "/tmp/") || strings.HasPrefix(home, os.TempDir()) {
				t.Errorf("%s is temporary", home)
			}
			if err := os.MkdirAll(filepath.Join(home, "a", "b"), 0o700); err != nil {
				t.Error(err)
			}
		}
	})
	for _, home := range homes {
		if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", home, err)
		}
	}
}

func TestATemporaryFolderIsNoHome(t *testing.T) {
	if dir, err := testhome.In(t, t.TempDir()); err == nil {
		t.Errorf("got %s", dir)
	}
	link := filepath.Join(testhome.New(t), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if dir, err := testhome.In(t, link); err == nil {
		t.Errorf("by a link: got %s", dir)
	}
}

func TestACacheInATemporaryFolderHoldsNoHome(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	if dir, err := testhome.Try(t); err == nil && strings.HasPrefix(dir, cache) {
		t.Errorf("got %s", dir)
	}
}

// A process that is killed leaves no folder behind.
func TestAKilledTestLeavesNothing(t *testing.T) {
	if os.Getenv("MERGEXO_TEST_HOME_VICTIM") != "" {
		_, _ = os.Stdout.WriteString("home " + testhome.New(t) + "\n")
		time.Sleep(time.Minute)
		return
	}
	_ = testhome.New(t) // a machine that has no place for one skips here
	victim := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	victim.Env = append(os.Environ(), "MERGEXO_TEST_HOME_VICTIM=1")
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	home := ""
	for lines := bufio.NewScanner(out); home == "" && lines.Scan(); {
		home, _ = strings.CutPrefix(lines.Text(), "home ")
		if home == lines.Text() {
			home = ""
		}
	}
	if _, err := os.Stat(home); home == "" || err != nil {
		t.Errorf("home %q: %v", home, err)
	}
	_ = victim.Process.Kill()
	_ = victim.Wait()
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
			return
		}
	}
	t.Errorf("%s is still there", home)
}
