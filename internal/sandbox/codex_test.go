//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
)

// codex runs each of its commands in its own sandbox, built from the mount table, including the
// folder mounted at /tmp. So that folder must exist inside, too.
func TestTheRealCodexRunsCommandsInTheSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents are not for -short")
	}
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	tool, w := tool(t), elsewhere(t)
	w.box.Path = bin + string(filepath.ListSeparator) + w.box.Path
	out := w.run(tool, `CODEX_HOME="$1/home/.codex" "`+bin+`/codex" sandbox -c 'sandbox_mode="workspace-write"' -- /bin/sh -c '
		echo in >made; echo temp >/tmp/made; echo temp >/var/tmp/made; cat made /tmp/made; echo x >"$1/home/.codex/bad" && echo wrote' sh "$1"`)
	if !strings.HasPrefix(out, "in\ntemp\n") || strings.Contains(out, "wrote") {
		t.Errorf("got: %s", out)
	}
	if b, _ := os.ReadFile(filepath.Join(w.dir, "made")); string(b) != "in\n" {
		t.Errorf("made: %q", b)
	}
}

// Programs started by codex write to the caches of the private home, which must exist when codex
// starts.
func TestTheCommandsOfTheRealCodexWriteToCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("real agents are not for -short")
	}
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	tool, w := tool(t), elsewhere(t)
	w.box.Path = bin + string(filepath.ListSeparator) + w.box.Path
	var roots []string
	for _, dir := range Caches(w.box.Home) {
		roots = append(roots, `"`+dir+`"`)
	}
	out := w.run(tool, `CODEX_HOME="$1/home/.codex" "`+bin+`/codex" sandbox -c 'sandbox_mode="workspace-write"' -c 'sandbox_workspace_write.writable_roots=[`+strings.Join(roots, ",")+`]' -- /bin/sh -c '
		cd "$1/home"; for d in .cache go/pkg .cargo/registry .m2; do mkdir -p $d/a && echo x >$d/a/b && cat $d/a/b; done; echo x >.profile && echo wrote' sh "$1"`)
	if !strings.HasPrefix(out, "x\nx\nx\nx\n") || strings.Contains(out, "wrote") {
		t.Errorf("got: %s", out)
	}
}

// A link that an agent left in place of a cache is not followed.
func TestCachesAreMadeInThePrivateHomeAlone(t *testing.T) {
	home, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{".cache", "go"} {
		if err := os.Symlink(outside, filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := makeCaches(home); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(filepath.Join(home, "go", "pkg")); err != nil || !info.IsDir() {
		t.Errorf("go/pkg: %v", err)
	}
	if all, _ := os.ReadDir(outside); len(all) > 0 {
		t.Errorf("outside are %v", all)
	}
}
