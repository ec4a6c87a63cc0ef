//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Programs in a folder that an agent may write to, in its home or from the config, can be run and
// read, but not changed, renamed or moved away.
func TestProgramsInAWritableFolderAreReadOnly(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	program := w.script("home/.codex/packages/standalone/releases/1/bin/codex", "#!/bin/sh\necho runs\n")
	w.link("releases/1", "home/.codex/packages/standalone/current")
	w.link(w.home+"/.codex/packages/standalone/current/bin/codex", "home/.local/bin/codex")
	local := filepath.Dir(w.script("home/.codex/local/claude", "#!/bin/sh\necho runs\n"))
	onPath := filepath.Dir(w.script("home/out/deep/project/bin/git", "#!/bin/sh\necho runs\n"))
	w.script("home/go/bin/gofumpt", "#!/bin/sh\necho runs\n")
	w.box.Writable = []string{filepath.Join(w.home, "out"), filepath.Join(w.home, "go")}
	w.box.Path = strings.Join([]string{local, onPath, filepath.Join(w.home, ".local/bin"), w.box.Path}, ":")
	w.box.Programs = []string{filepath.Join(w.home, ".local/bin/codex")}
	out := w.run(tool, `codex; claude; cd "$1/home"
		for f in .codex/packages/standalone/releases/1/bin/codex .codex/local/claude out/deep/project/bin/git go/bin/gofumpt; do
			(echo bad >$f) 2>/dev/null && echo "wrote $f"; rm -f $f 2>/dev/null && echo "removed $f"
			d=$f; while d=$(dirname $d); [ $d != .codex ] && [ $d != out ] && [ $d != go ]; do mv $d $d.old 2>/dev/null && echo "renamed $d"; done
		done
		(ln -sfn /tmp .codex/packages/standalone/current) 2>/dev/null && echo "led elsewhere"
		echo x >.codex/session && echo x >out/deep/new && mkdir -p go/pkg && echo works`)
	if out != "runs\nruns\nworks\n" {
		t.Errorf("got: %s", out)
	}
	if b, err := os.ReadFile(program); err != nil || !strings.Contains(string(b), "runs") {
		t.Errorf("%q, %v", b, err)
	}
}

// A link that an agent may have made in a writable folder lets nothing in at the next run: not as a
// toolchain, on PATH or by the config.
func TestALinkOfAnAgentLetsNothingIn(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	w.put("home/projects/secret", "canary")
	w.put("home/go/pkg/a", "fine")
	w.link("/", "home/go/bin")
	w.link(w.home, "home/go/home")
	w.link(w.home+"/projects", "home/go/tools/bin")
	w.link(w.home+"/projects", "home/.codex/tools")
	w.link(w.home+"/projects", "state/checkouts/o/r/worker-0/bin")
	w.box.Writable = []string{filepath.Join(w.home, "go")}
	w.box.Readable = []string{filepath.Join(w.home, "go/home"), filepath.Join(w.home, ".codex/tools")}
	w.box.Path = strings.Join([]string{filepath.Join(w.home, "go/tools/bin"), filepath.Join(w.dir, "bin"), w.box.Path}, ":")
	out := w.run(tool, readsWhat+`; cat "$1/home/projects/secret" "$1/home/go/pkg/a"; ls `+root)
	if strings.Contains(strings.ReplaceAll(out, "No such file", ""), "canary") || !strings.Contains(out, "fine") {
		t.Errorf("got: %s", out)
	}
}

// A link to the home or to the root lets neither in, under any name.
func TestWhatIsLetInIsNeverTheWholeHome(t *testing.T) {
	w := elsewhere(t)
	root := filepath.Dir(w.home)
	w.box.Readable = []string{w.link(w.home, "h"), w.link("/", "all"), w.link(root, "root"), root, "/"}
	for _, e := range w.box.Plan(work.SandboxBwrap, "/bin/sh", w.job) {
		if e.How != Link && e.How != Private && (e.Path == "/" || e.Path == root || e.Path == w.home) {
			t.Errorf("%+v", e)
		}
	}
}

// Nothing is created outside through a link that an agent left.
func TestNoFolderIsMadeThroughALink(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	root := filepath.Dir(w.home)
	w.put("outside/a", "")
	w.link(root+"/outside", "home/out/link")
	w.link(root+"/outside", "home/.codex/link")
	w.link(root+"/outside", "state/homes/1/mine")
	w.box.Writable = []string{filepath.Join(w.home, "out"), filepath.Join(w.home, "out/link/made"), filepath.Join(w.home, ".codex/link/made"), filepath.Join(w.home, "new/folder")}
	w.run(tool, `echo x >~/left`)
	if all, err := os.ReadDir(filepath.Join(root, "outside")); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(w.home, "new/folder")); err != nil {
		t.Error(err)
	}
}

// The home of a work item belongs to one agent: another agent of the item, which may have other
// rights, sees none of it. Programs left in folders of PATH that the machine lacks are not found.
func TestAHomeIsOneAgentsAndOffersNoPrograms(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no private folders here")
	}
	link := w.home + "-link" // PATH may name the home by a link
	if err := errors.Join(os.Symlink(w.home, link), os.MkdirAll(filepath.Join(w.home, "there/bin"), 0o700)); err != nil {
		t.Fatal(err)
	}
	w.box.Path = strings.Join([]string{filepath.Join(link, ".tools/bin"), filepath.Join(link, "there/bin"), w.box.Path}, ":")
	leave := `echo left >~/note; mkdir -p ~/.tools/bin; (printf '#!/bin/sh\necho planted\n' >~/.tools/bin/git && chmod +x ~/.tools/bin/git) 2>/dev/null; `
	w.run(tool, leave)
	if out := w.run(tool, `cat ~/note; git --version`); !strings.HasPrefix(out, "left\n") || strings.Contains(out, "planted") {
		t.Errorf("the same agent: %s", out)
	}
	w.box.Agent = "other"
	if out := w.run(tool, `ls -A ~; cat ~/note`); strings.Contains(out, "left") {
		t.Errorf("another agent: %s", out)
	}
}
