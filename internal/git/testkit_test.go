package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// day is the date of all commits in the tests.
var day = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

// operator is the user of the operator's git.
var operator = Identity{Name: "mergexo", Email: "mergexo@localhost"}

const key1 = "1111111111111111111111111111111111111111111111111111111111111111"

// world is a remote, a person's clone of it, our mirror and one slot.
type world struct {
	t      *testing.T
	root   string
	home   string
	remote string
	person string
	git    *Git
	mirror *Mirror
	dir    string
	index  string
}

func (w *world) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home}
}

// newWorld makes a remote with these files on main.
func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	t.Parallel() // most of a test waits for the disk
	root := t.TempDir()
	w := &world{
		t: t, root: root, home: filepath.Join(root, "home"),
		remote: filepath.Join(root, "remote.git"), person: filepath.Join(root, "person"),
		dir: filepath.Join(root, "checkouts", "worker-0"), index: filepath.Join(root, "checkouts", "worker-0.index"),
	}
	w.mkdir(w.home)
	w.check(os.WriteFile(filepath.Join(w.home, ".gitconfig"), []byte(fmt.Sprintf("[user]\n\tname = %s\n\temail = %s\n"+
		"[maintenance]\n\tauto = false\n[receive]\n\tautoGC = false\n", operator.Name, operator.Email)), 0o600)) // no process looks after each commit and push whether there is much to pack
	w.copied(files)
	w.open(Options{})
	return w
}

// made has remotes and clones by their files: most tests start with the same files, and a copy
// saves the dozen processes that make them.
var made = struct {
	sync.Mutex
	by map[string]string // files -> folder
}{by: map[string]string{}}

// copied copies the remote and the person's clone.
func (w *world) copied(files map[string]string) {
	w.t.Helper()
	key := fmt.Sprint(files)
	made.Lock()
	from, ok := made.by[key]
	if !ok {
		var err error
		from, err = os.MkdirTemp("", "git-world-")
		w.check(err)
		w.make(from, files)
		made.by[key] = from
	}
	made.Unlock()
	for _, name := range []string{"remote.git", "person"} {
		w.check(os.CopyFS(filepath.Join(w.root, name), os.DirFS(filepath.Join(from, name))))
	}
}

// make makes the remote and the person's clone in a folder.
func (w *world) make(in string, files map[string]string) {
	w.t.Helper()
	there := *w
	there.remote, there.person = filepath.Join(in, "remote.git"), filepath.Join(in, "person")
	there.cmd(in, "init", "-q", "--bare", "-b", "main", there.remote)
	there.cmd(in, "clone", "-q", there.remote, there.person)
	there.cmd(there.person, "remote", "set-url", "origin", "../remote.git") // independent of the copy's path
	there.cmd(there.person, "checkout", "-q", "-B", "main")
	if len(files) > 0 {
		there.commit("first", files)
	}
}

// open opens git and the mirror with the operator's current config.
func (w *world) open(opt Options) {
	w.t.Helper()
	if opt.Env == nil {
		opt.Env = w.env()
	}
	g, err := Open(w.t.Context(), opt)
	if err != nil {
		w.t.Fatal(err)
	}
	w.git = g
	w.mirror = w.mirrorOf(w.remote)
}

// mirrorOf returns our mirror with another remote.
func (w *world) mirrorOf(url string) *Mirror {
	return w.git.Mirror(filepath.Join(w.root, "repos", "o", "n.git"), url, w.lock()).WithBase("main")
}

func (w *world) lock() string { return filepath.Join(w.root, "locks", "repo-1.lock") }

// cmd runs git as a person.
func (w *world) cmd(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (w *world) try(dir string, args ...string) (string, error) {
	return w.tryWith(nil, dir, args...)
}

// tryWith runs git as a person with additional environment variables.
func (w *world) tryWith(env []string, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(w.t.Context(), "git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(w.env(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@x", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@x",
		"GIT_AUTHOR_DATE=@1700000000 +0000", "GIT_COMMITTER_DATE=@1700000000 +0000")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// commit commits as a person on the current branch and pushes.
func (w *world) commit(message string, files map[string]string) string {
	w.t.Helper()
	for name, content := range files {
		w.write(filepath.Join(w.person, name), content)
	}
	w.cmd(w.person, "add", "-A")
	w.cmd(w.person, "commit", "-q", "--allow-empty", "-m", message)
	w.cmd(w.person, "push", "-q", "origin", "HEAD")
	return w.cmd(w.person, "rev-parse", "HEAD")
}

func (w *world) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path, content string) {
	w.t.Helper()
	w.mkdir(filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// put writes a file in the checkout.
func (w *world) put(name, content string) {
	w.t.Helper()
	w.write(filepath.Join(w.dir, filepath.FromSlash(name)), content)
}

func (w *world) read(path string) string {
	w.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// fetch ensures and fetches all branches.
func (w *world) fetch() {
	w.t.Helper()
	w.check(w.mirror.Ensure(w.t.Context()))
	heads, err := w.tryWith(nil, w.remote, "for-each-ref", "--format=%(refname:short)", "refs/heads")
	w.check(err)
	w.check(w.mirror.Fetch(w.t.Context(), strings.Fields(heads)...))
}

// main returns the remote's main as of the last fetch.
func (w *world) main() string {
	w.t.Helper()
	oid, ok, err := w.mirror.Head(w.t.Context(), "main")
	if err != nil || !ok {
		w.t.Fatalf("main: %v %v", ok, err)
	}
	return oid
}

// restore fetches and restores main.
func (w *world) restore() string {
	w.t.Helper()
	w.fetch()
	w.check(w.mirror.Restore(w.t.Context(), w.wanted()))
	return w.main()
}

func (w *world) wanted() Restore {
	w.t.Helper()
	return Restore{Dir: w.dir, Index: w.index, Commit: w.main(), Branch: "agent/small/1-x", Base: "main"}
}

// commitTree commits the checkout on main.
func (w *world) commitTree() (Committed, error) {
	w.t.Helper()
	return w.mirror.CommitTree(w.t.Context(), w.change())
}

func (w *world) change() Commit {
	w.t.Helper()
	return Commit{Dir: w.dir, Index: w.index, Parents: []string{w.main()}, Message: "Change", Date: day, Turn: key1}
}

func (w *world) mustCommit() Committed {
	w.t.Helper()
	c, err := w.commitTree()
	w.check(err)
	return c
}

// contents returns the content of every file below a folder, without .git: links by their target,
// executables with a star.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case rel == ".git":
			if info.IsDir() {
				return filepath.SkipDir
			}
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			out[rel] = "-> " + to
			return err
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if info.Mode()&0o100 != 0 {
				b = append([]byte("*"), b...)
			}
			out[rel] = string(b)
			return err
		case info.IsDir() && rel != ".":
			out[rel+"/"] = ""
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kept returns the commit that the mirror keeps for a turn.
func (w *world) kept(key string) (string, bool) {
	w.t.Helper()
	oid, err := w.try(w.mirror.Dir(), "rev-parse", "--verify", "--quiet", "refs/mergexo/turns/"+key)
	return oid, err == nil
}

// repack packs the mirror's objects and refs.
func (w *world) repack() {
	w.t.Helper()
	w.cmd(w.mirror.Dir(), "repack", "-a", "-d", "-q", "--keep-unreachable")
	w.cmd(w.mirror.Dir(), "pack-refs", "--all")
}

// trap makes a program that leaves a file when it is run.
func (w *world) trap() (script, sprung string) {
	w.t.Helper()
	script, sprung = filepath.Join(w.root, "trap.sh"), filepath.Join(w.root, "sprung")
	w.write(script, fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", sprung))
	w.check(os.Chmod(script, 0o755))
	return script, sprung
}

func repeat(s string, n int) string { return string(bytes.Repeat([]byte(s), n)) }
