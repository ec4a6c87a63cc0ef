package turn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// What a set-up made is used only for what it was made of.
func TestKeyOfASetup(t *testing.T) {
	key := func(change func(*env.Lease, *[]string)) string {
		l := &env.Lease{Repo: &env.Repo{Remote: env.Remote{Settings: config.Repo{Setup: []string{"npm", "ci"}}}}, Turn: work.Turn{Base: "main", Sandbox: work.SandboxBwrap}}
		locks := []string{"100644 aa go.sum", "100644 bb web/yarn.lock"}
		change(l, &locks)
		s := setup{l: l}
		return s.key(locks)
	}
	same := key(func(*env.Lease, *[]string) {})
	seen := []string{same}
	for name, change := range map[string]func(*env.Lease, *[]string){
		"command":     func(l *env.Lease, _ *[]string) { l.Repo.Settings.Setup = []string{"npm", "install"} },
		"cut another": func(l *env.Lease, _ *[]string) { l.Repo.Settings.Setup = []string{"npm ci"} },
		"base":        func(l *env.Lease, _ *[]string) { l.Turn.Base = "next" },
		"sandbox":     func(l *env.Lease, _ *[]string) { l.Turn.Sandbox = work.SandboxNone },
		"content":     func(_ *env.Lease, locks *[]string) { (*locks)[0] = "100644 ab go.sum" },
		"place":       func(_ *env.Lease, locks *[]string) { (*locks)[0] = "100644 aa x/go.sum" },
		"one less":    func(_ *env.Lease, locks *[]string) { *locks = (*locks)[1:] },
	} {
		if k := key(change); slices.Contains(seen, k) {
			t.Errorf("%s: the key is not another", name)
		} else {
			seen = append(seen, k)
		}
	}
	if again := key(func(l *env.Lease, _ *[]string) { l.Turn.Key, l.Turn.Head = "x", "y" }); again != same {
		t.Error("another turn has another key")
	}
}

func TestDifferingLockFiles(t *testing.T) {
	one, other := []string{"100644 aa a b/go.sum", "100644 bb yarn.lock", "100644 cc uv.lock"}, []string{"100644 aa a b/go.sum", "100644 bc yarn.lock", "100644 dd Cargo.lock"}
	if got, want := differing(one, other), []string{"Cargo.lock", "uv.lock", "yarn.lock"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whole ones stay while they are young and small; what a killed one left, what is over a bound, and
// everything of a repository that the config no longer names goes.
func TestDropSetups(t *testing.T) {
	now := time.Now()
	name := work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}
	r := &env.Repo{Remote: env.Remote{Name: name, Settings: config.Repo{Setup: []string{"make"}}}, Row: work.Repo{ID: 1, NodeID: "R_1", Name: name}}
	p := &restorer{Env: &env.Env{Dirs: folder.Dirs{State: t.TempDir()}, Local: func() time.Time { return now }, Config: &config.Config{Runtime: config.Runtime{MaxDisk: 100}}}}
	p.All = []*env.Repo{r}
	removed := p.Dirs.SetupsDir(work.Repo{NodeID: "R_2", Name: name})
	put := func(dir, entry string, bytes int64, age time.Duration) {
		t.Helper()
		at := filepath.Join(dir, entry)
		err := os.MkdirAll(filepath.Join(at, setupFiles), 0o700)
		if b, _ := json.Marshal(setupProduct{Bytes: bytes}); err == nil && bytes > 0 {
			err = os.WriteFile(filepath.Join(at, setupNote), b, 0o600)
		}
		if err == nil {
			err = os.Chtimes(at, now.Add(-age), now.Add(-age))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := p.Dirs.SetupsDir(r.Row)
	put(dir, "made-a", 60, time.Hour)
	put(dir, "made-b", 30, 2*time.Hour)
	put(dir, "made-too-much", 20, 3*time.Hour)
	put(dir, "made-old", 1, 8*24*time.Hour)
	put(dir, "made-without-note", 0, time.Minute)
	put(dir, "new", 5, time.Minute)
	put(dir, "checkout", 0, time.Minute)
	put(removed, "made-c", 1, time.Minute)
	if lock, ok, err := p.Dirs.LockSetup(t.Context(), r.Row, 0); err != nil || !ok {
		t.Fatal(err)
	} else if err = p.DropSetups(t.Context()); err != nil {
		t.Fatal(err)
	} else if entries, _ := os.ReadDir(dir); len(entries) != 7 {
		t.Errorf("one that is used lost something: %d are left", len(entries))
	} else {
		lock.Unlock()
	}
	if err := p.DropSetups(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"made-a", "made-b"}) {
		t.Errorf("left: %q", left)
	}
	if _, err := os.Stat(removed); err == nil {
		t.Error("what was made for a removed repository stays")
	}
}
