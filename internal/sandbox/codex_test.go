//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// codex runs each of its commands in its own sandbox, built from the mount table, including the
// folder mounted at /tmp. So that folder must exist inside, too.
func TestTheRealCodexRunsCommandsInTheSandbox(t *testing.T) {
	testhome.OnlyLong(t)
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

// Each place of the home is named once, and what is told to an agent's own sandbox is what can be
// written: with all places in the home, with none, and with some named by PATH or the config.
func TestWhatIsToldToBeWritableCanBeWritten(t *testing.T) {
	names := map[string]bool{}
	for _, p := range places {
		if names[p.name] {
			t.Errorf("%s is named twice", p.name)
		}
		names[p.name] = true
	}
	for name, prepare := range map[string]func(w *world, path func(string) string){
		"an empty home": func(*world, func(string) string) {},
		"everything is there": func(w *world, _ func(string) string) {
			for _, dir := range Known(w.home) {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
		},
		"PATH and config name some": func(w *world, path func(string) string) {
			for _, dir := range []string{".gradle", ".nuget", ".m2", ".rustup/tmp", "elsewhere/.npm"} {
				if err := os.MkdirAll(path(dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(path("elsewhere/.npm"), path(".npm")); err != nil {
				t.Fatal(err)
			}
			w.box.Path += ":" + path(".cpan") + ":" + path(".local/share/pnpm") + ":" + path(".npm")
			w.box.Readable, w.box.Writable = []string{path(".gradle"), path(".m2")}, []string{path(".nuget"), path("gone")}
		},
	} {
		w := elsewhere(t)
		prepare(w, func(name string) string { return filepath.Join(w.home, filepath.FromSlash(name)) })
		tool := tool(t)
		_, told, err := tool.Wrap(w.box, []string{"/bin/sh"}, w.job)
		if err != nil {
			t.Fatal(err)
		}
		if tool.Kind == work.SandboxBwrap && !slices.Contains(told, filepath.Join(w.home, ".cache")) {
			t.Errorf("%s: told only %q", name, told)
		}
		asked := append(placesIn(w.home, Private), w.box.Writable...)
		out := w.exec(tool, append([]string{"/bin/sh", "-c", `for d; do (: >"$d/made") 2>/dev/null && echo "$d"; done; true`, "sh"}, asked...)...)
		wrote := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(wrote)
		slices.Sort(told)
		if !slices.Equal(told, slices.Compact(wrote)) {
			t.Errorf("%s:\ntold  %q\nwrote %q", name, told, wrote)
		}
	}
}
