//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// An agent finds what its item's earlier turns left in a cache. Another item's agent does not, and
// required tests get empty caches: neither could make a failing test pass through a cache.
func TestCachesAreAnItemsOwn(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no private folders here")
	}
	use := func(item int, role string, purpose work.Purpose, say string) string {
		w.job.Item, w.job.Role, w.job.For = item, role, purpose
		return w.run(tool, `for d in ~/.cache ~/.npm ~/go/pkg/mod ~/.m2 ~/any; do mkdir -p $d; cat $d/left; echo `+say+` >$d/left; done 2>/dev/null`)
	}
	for _, c := range []struct {
		item    int
		role    string
		purpose work.Purpose
		say     string
		want    string
	}{
		{1, "", work.RunsAgent, "one", ""},
		{2, "", work.RunsAgent, "two", ""},
		{1, "", work.RunsTests, "tests", ""},
		{1, "", work.RunsTests, "tests", ""},
		{1, "quinn", work.RunsAgent, "quinn", ""},
		{1, "sam", work.RunsAgent, "sam", ""},
		{2, "quinn", work.RunsAgent, "quinn", ""},
		{1, "", work.RunsAgent, "more", strings.Repeat("one\n", 5)},
		{2, "", work.RunsAgent, "more", strings.Repeat("two\n", 5)},
		{1, "quinn", work.RunsAgent, "again", strings.Repeat("quinn\n", 5)},
		{0, "", work.RunsAgent, "none", ""},
		{0, "", work.RunsAgent, "none", ""},
	} {
		if got := use(c.item, c.role, c.purpose, c.say); got != c.want {
			t.Errorf("%+v: found %q", c, got)
		}
	}
	if out := w.run(tool, `ls -A ~`); strings.Contains(out, "any") {
		t.Errorf("a run without an item finds %s", out)
	}
}

// By default the state is below the home: the checkout has its path in the replaced home, and so
// have the folders behind the temporary ones.
func TestTheStateBelowTheHome(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	below := filepath.Join(w.home, ".local/share/mergexo")
	if err := os.MkdirAll(filepath.Dir(below), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.state, below); err != nil {
		t.Fatal(err)
	}
	moved := func(path string) string { return strings.Replace(path, w.state, below, 1) }
	w.box.Kept, w.box.Items = []string{below}, moved(w.box.Items)
	for i, p := range w.box.Ours {
		w.box.Ours[i] = moved(p)
	}
	w.dir = moved(w.dir)
	w.job.Dir = w.dir
	w.put("home/.local/bin/tool", "fine")
	if bin, why := modelsim.Programs(); why == "" {
		w.box.Path = bin + string(filepath.ListSeparator) + w.box.Path
		if out := w.run(tool, `codex sandbox -c 'sandbox_mode="workspace-write"' -- /bin/sh -c 'echo in >made; echo temp >/tmp/made; cat made /tmp/made'`); out != "in\ntemp\n" {
			t.Errorf("codex: %s", out)
		}
	}
	for range 2 { // at the second run everything exists
		out := w.run(tool, `cat a.txt ~/.local/bin/tool ~/.codex/auth.json "$1/home/.local/share/mergexo/agents/a.gitconfig"; echo x >>~/again; wc -l <~/again; grep -rs canary "$1" && echo seen; echo x >a.txt`)
		if !strings.HasSuffix(out, "finefinefine1\n") && !strings.HasSuffix(out, "finefinefine2\n") {
			t.Errorf("got: %s", out)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(w.dir, "a.txt")); string(b) != "x\n" {
		t.Errorf("a.txt: %q", b)
	}
}

// A link that an agent left in its home at a later mount point is not followed: bubblewrap would
// create folders at its target.
func TestLinksInAnItemsHomeAreNotFollowed(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no private folders here")
	}
	root := filepath.Dir(w.home)
	w.put("home/.local/bin/tool", "fine")
	out := strings.Repeat("../", 12) + "oldroot" + root + "/outside"
	if err := os.Mkdir(filepath.Join(root, "outside"), 0o700); err != nil {
		t.Fatal(err)
	}
	item := filepath.Join(w.box.Items, "1", w.box.Agent)
	if err := os.MkdirAll(item, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".local", ".codex", "bin"} {
		if err := os.Symlink(out, filepath.Join(item, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.run(tool, `cat ~/.local/bin/tool ~/.codex/auth.json ~/bin/tool`); got != "finefinefine" {
		t.Errorf("got: %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(root, "outside")); err != nil || len(left) > 0 {
		t.Errorf("made outside: %v, %v", left, err)
	}
}

// A folder is removed even if Go made it read-only.
func TestRemoveWriteProtected(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	inner := filepath.Join(dir, "mod", "x@v1")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "f"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{inner, filepath.Dir(inner)} {
		if err := os.Chmod(d, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
