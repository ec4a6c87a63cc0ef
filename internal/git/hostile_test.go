package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// plant makes every git setting and hook in a checkout run a script.
func plant(w *world, repo, script string) {
	w.t.Helper()
	config := `[core]
	fsmonitor = ` + script + `
	hooksPath = ` + filepath.Dir(script) + `
	sshCommand = ` + script + `
	pager = ` + script + `
	editor = ` + script + `
	attributesFile = ` + filepath.Join(w.dir, ".gitattributes") + `
	alternateRefsCommand = ` + script + `
[filter "evil"]
	clean = ` + script + `
	smudge = ` + script + `
	process = ` + script + `
	required = true
[filter "lfs"]
	clean = ` + script + `
	smudge = ` + script + `
[diff "evil"]
	textconv = ` + script + `
	command = ` + script + `
[diff]
	external = ` + script + `
[merge "evil"]
	driver = ` + script + `
[gpg]
	program = ` + script + `
[commit]
	gpgsign = true
[credential]
	helper = ` + script + `
[url "ext::` + script + `"]
	insteadOf = ` + w.remote + `
`
	w.write(filepath.Join(repo, "config"), config)
	for _, hook := range []string{
		"post-checkout", "pre-commit", "post-commit", "post-index-change", "pre-push", "reference-transaction", "post-merge",
		"commit-msg", "prepare-commit-msg", "pre-auto-gc", "sendemail-validate", "fsmonitor-watchman",
	} {
		path := filepath.Join(repo, "hooks", hook)
		w.write(path, w.read(script))
		w.check(os.Chmod(path, 0o755))
	}
}

// Our commands run nothing that an agent planted in its checkout, during a whole turn and the next
// restore.
func TestNothingPlantedIsRun(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n", "sub/.keep": ""})
	base := w.restore()
	script, sprung := w.trap()
	plant(w, filepath.Join(w.dir, ".git"), script)
	w.put(".gitattributes", "* filter=evil diff=evil merge=evil\n")
	w.put(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::"+script+"\n\tupdate = !"+script+"\n")
	w.put("a.txt", "agent\n")
	w.put("queue.py", "print(1)\n")
	w.put(".env", "GIT_DIR=x\n")

	c := w.mustCommit()
	ctx := t.Context()
	w.check(w.mirror.Push(ctx, "agent/small/1-x", c.OID, ""))
	moved := w.commit("moved", map[string]string{"other": "o"})
	w.fetch()
	if _, err := w.mirror.Replay(ctx, c.OID, moved); err != nil {
		t.Fatal(err)
	}
	if _, err := w.mirror.KeepPartial(ctx, Partial{Key: key1, Dir: w.dir, Index: w.index, Parent: base, Date: day}); err != nil {
		t.Fatal(err)
	}
	r := w.wanted()
	r.Commit = c.OID // the tree has its .gitattributes now
	w.check(w.mirror.Restore(ctx, r))
	w.put("a.txt", "again\n")
	next := w.change()
	next.Parents = []string{c.OID}
	if _, err := w.mirror.CommitTree(ctx, next); err != nil {
		t.Fatal(err)
	}
	if got, _, err := w.mirror.ReadFile(ctx, c.OID, "a.txt"); err != nil || string(got) != "agent\n" {
		t.Errorf("a.txt = %q, %v", got, err)
	}
	if files.Exists(sprung) {
		t.Errorf("run: %s", w.read(sprung))
	}
	// The trap works: the agent's own git triggers it.
	plant(w, filepath.Join(w.dir, ".git"), script)
	_, _ = w.try(w.dir, "status")
	if !files.Exists(sprung) {
		t.Error("the trap is none")
	}
}

// A repository in a submodule's folder survives git clean, and add -A would run its file system
// monitor.
func TestSubmoduleFolder(t *testing.T) {
	testhome.NotShort(t)
	w := newWorld(t, map[string]string{"a.txt": "a\n"})
	w.cmd(w.root, "init", "-q", "-b", "main", "lib")
	w.write(filepath.Join(w.root, "lib", "l.txt"), "l")
	w.cmd(filepath.Join(w.root, "lib"), "add", "-A")
	w.cmd(filepath.Join(w.root, "lib"), "commit", "-qm", "lib")
	w.cmd(w.person, "submodule", "add", "-q", filepath.Join(w.root, "lib"), "lib")
	w.commit("submodule", nil)
	w.restore()
	script, sprung := w.trap()

	spoil := func() {
		w.cmd(w.root, "clone", "-q", filepath.Join(w.root, "lib"), filepath.Join(w.dir, "lib"))
		plant(w, filepath.Join(w.dir, "lib", ".git"), script)
		w.put("lib/l.txt", "changed")
		w.cmd(filepath.Join(w.dir, "lib"), "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "commit.gpgsign=false",
			"-c", "filter.evil.clean=cat", "commit", "-qam", "the agent's")
		w.check(os.RemoveAll(sprung))
	}
	spoil()
	w.put("a.txt", "agent\n")
	c := w.mustCommit()
	if len(c.Files) != 1 || c.Files[0] != "a.txt" {
		t.Errorf("files = %q", c.Files)
	}
	w.check(os.RemoveAll(filepath.Join(w.dir, "lib")))
	w.mkdir(filepath.Join(w.dir, "lib"))
	spoil()
	w.check(w.mirror.Restore(t.Context(), w.wanted()))
	if got := contents(t, filepath.Join(w.dir, "lib")); len(got) != 0 || files.Exists(filepath.Join(w.dir, "lib", ".git")) {
		t.Errorf("the submodule's folder holds %q", got)
	}
	if files.Exists(sprung) {
		t.Errorf("run: %s", w.read(sprung))
	}
}

// The operator's environment cannot redirect our commands.
func TestEnvironmentOfTheOperator(t *testing.T) {
	w := newWorld(t, tree)
	other := filepath.Join(w.root, "other")
	w.cmd(w.root, "init", "-q", other)
	w.open(Options{Env: append(w.env(), "GIT_DIR="+other+"/.git", "GIT_WORK_TREE="+other, "GIT_INDEX_FILE=/nowhere/index",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=/nowhere", "GIT_ALLOW_PROTOCOL=ext",
		"GIT_AUTHOR_NAME=Somebody", "GIT_NAMESPACE=ns", "GIT_CEILING_DIRECTORIES=/", "GIT_TRACE=1")})
	w.restore()
	w.put("a.txt", "new")
	c := w.mustCommit()
	if got := w.cmd(w.mirror.Dir(), "log", "-1", "--format=%an <%ae> %cn <%ce> %ad", "--date=iso", c.OID); got !=
		"mergexo <mergexo@localhost> mergexo <mergexo@localhost> 2024-05-06 07:08:09 +0000" {
		t.Errorf("commit = %q", got)
	}
	if got := contents(t, other); len(got) != 0 {
		t.Errorf("the other repository holds %q", got)
	}
}

func TestExtTransportIsRefused(t *testing.T) {
	w := newWorld(t, tree)
	script, sprung := w.trap()
	w.write(filepath.Join(w.home, ".gitconfig"), "[protocol \"ext\"]\n\tallow = always\n")
	w.open(Options{})
	m := w.git.Mirror(filepath.Join(w.root, "ext.git"), "ext::"+script+" %S", filepath.Join(w.root, "ext.lock"))
	w.check(m.Ensure(t.Context()))
	if err := m.Fetch(t.Context()); err == nil {
		t.Error("fetched")
	}
	if files.Exists(sprung) {
		t.Error("a URL ran a program")
	}
}
