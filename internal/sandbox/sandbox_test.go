//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// tool returns this machine's sandbox. Without one the test is skipped, except in CI on a Linux
// with bwrap.
func tool(t *testing.T) Tool {
	t.Helper()
	found, err := Find(t.Context(), os.Getenv("PATH"))
	if err == nil {
		return found
	}
	if _, missing := proc.LookPath("bwrap", os.Getenv("PATH")); runtime.GOOS == "linux" && missing == nil && os.Getenv("CI") == "true" {
		t.Fatalf("CI has a sandbox program that does not work: %v", err)
	}
	t.Skipf("no sandbox here: %v", err)
	return Tool{}
}

// world is a machine with secrets in a temporary folder.
type world struct {
	t                *testing.T
	home, state, dir string
	box              Box
	job              work.Job
	env              []string // besides PATH and HOME
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldIn(t, t.TempDir())
}

func worldIn(t *testing.T, root string) *world {
	t.Helper()
	w := &world{t: t, home: filepath.Join(root, "home"), state: filepath.Join(root, "state")}
	w.dir = filepath.Join(w.state, "checkouts", "o", "r", "worker-0")
	for _, name := range []string{
		"home/.ssh/id_ed25519", "home/.config/gh/hosts.yml", "home/.git-credentials", "home/.netrc", "home/.npmrc", "home/.config/git/credentials",
		"state/state.db", "state/checkouts/o/r/worker-1/a.txt", "state/logs/x.jsonl", "x/socket", "home/.bash_history",
	} {
		w.put(name, "canary")
	}
	for _, name := range []string{"home/.profile", "home/.codex/auth.json", "state/repos/o/r.git/objects/ab/c", "state/agents/a.gitconfig", "home/.cache/tool", "home/bin/tool"} {
		w.put(name, "fine")
	}
	w.put("state/checkouts/o/r/worker-0/a.txt", "mine")
	w.box = Box{
		Agent: "mine", Home: w.home, Path: os.Getenv("PATH"), Kept: []string{w.state},
		Ours:  []string{filepath.Join(w.state, "repos/o/r.git/objects"), filepath.Join(w.state, "agents")},
		Homes: []string{filepath.Join(w.home, ".codex")}, Items: filepath.Join(w.state, "homes"),
	}
	w.job = work.Job{Dir: w.dir, Item: 1, For: work.RunsAgent}
	return w
}

func (w *world) put(name, text string) {
	w.t.Helper()
	path := filepath.Join(filepath.Dir(w.home), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// run runs a shell script in the sandbox, with the world's root as $1.
func (w *world) run(tool Tool, script string) string {
	w.t.Helper()
	return w.exec(tool, "/bin/sh", "-c", script, "sh", filepath.Dir(w.home))
}

// exec runs a program in the sandbox.
func (w *world) exec(tool Tool, argv ...string) string {
	w.t.Helper()
	argv, _, err := tool.Wrap(w.box, argv, w.job)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := proc.Run(w.t.Context(), proc.Cmd{
		Path: argv[0], Args: argv[1:], Dir: w.dir, Env: append([]string{"PATH=" + w.box.Path, "HOME=" + w.box.Home}, w.env...),
		Wall: time.Minute, DieWithParent: true, Sandbox: true,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(res.Stdout) + string(res.Stderr)
}

// readsWhat is a script that prints which files can be read.
const readsWhat = `cd "$1"; for f in "$1"/home/.ssh/* "$1"/home/.config/gh/hosts.yml "$1"/home/.git-credentials "$1"/home/.netrc "$1"/home/.npmrc \
 "$1"/home/.config/git/credentials "$1"/state/state.db "$1"/state/logs/* "$1"/state/checkouts/o/r/worker-1/* "$1"/x/* "$1"/home/.bash_history; do cat "$f"; done
 grep -rs canary "$1" /proc/*/environ /run; echo done`

// Credential files, the state folder, other checkouts, other processes and others' temporary files
// are hidden; what the work needs is visible.
func TestFilesAreHidden(t *testing.T) {
	tool, w := tool(t), newWorld(t)
	t.Setenv("CANARY", "canary")
	if out := w.run(tool, readsWhat); strings.Contains(strings.ReplaceAll(out, "No such file", ""), "canary") || !strings.Contains(out, "done") {
		t.Errorf("read: %s", out)
	}
	script := `cat a.txt "$1/home/.codex/auth.json" "$1/state/repos/o/r.git/objects/ab/c" "$1/state/agents/a.gitconfig" "$1/home/bin/tool" &&
		echo new >a.txt && echo new >"$1/home/.codex/new" && echo new >/tmp/new && cat /tmp/new && mkdir -p "$1/home/.cache" && echo new >"$1/home/.cache/new" && echo new >"$1/home/.profile" && echo all`
	// The home is in /tmp here, which is private, so this part runs elsewhere.
	w = elsewhere(t)
	if out := w.run(tool, script); !strings.HasPrefix(out, "minefinefinefinefine") || !strings.HasSuffix(out, "new\nall\n") {
		t.Errorf("the work is hindered: %s", out)
	}
	if out := w.run(tool, readsWhat+"; test -e /tmp/new && echo stale"); strings.Contains(out, "canary") || strings.Contains(out, "stale") {
		t.Errorf("read: %s", out)
	}
	for path, want := range map[string]bool{
		w.dir + "/a.txt": true, w.home + "/.codex/new": true, w.home + "/.cache/new": false, w.home + "/.profile": false, "/tmp/new": false,
	} {
		b, _ := os.ReadFile(path)
		if got := string(b) == "new\n"; got != want {
			t.Errorf("%s written = %v", path, got)
		}
	}
	for _, forbidden := range []string{`"$1/state/repos/o/r.git/objects/ab/c"`, `"$1/home/bin/tool"`, `"$1/x/new"`, `/etc/x`, `/x`, `/srv/x`, `/run/x`} {
		if out := w.run(tool, "echo bad >"+forbidden+" && echo wrote"); strings.Contains(out, "wrote") {
			t.Errorf("%s can be written", forbidden)
		}
	}
}

// elsewhere makes a world outside every temporary folder, where real homes are.
func elsewhere(t *testing.T) *world {
	t.Helper()
	for _, parent := range []string{"/var/lib", "/opt", os.Getenv("HOME")} {
		if dir, ok := folderIn(t, parent); ok {
			return worldIn(t, dir)
		}
	}
	t.Skip("no folder outside the temporary ones may be written")
	return nil
}

// folderIn makes a folder that is removed with the test; false if it cannot.
func folderIn(t *testing.T, parent string) (string, bool) {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "mx")
	if err != nil || strings.HasPrefix(parent, "/tmp") {
		return "", false
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir, true
}

// Root outside is an ordinary user inside, so that mounts that hide files cannot be removed, not
// even in a nested namespace.
func TestMountsStay(t *testing.T) {
	tool := tool(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no mounts here")
	}
	w := elsewhere(t)
	out := w.run(tool, `umount -l "$1/home/.ssh"; unshare -rm sh -c 'umount -l "$0/home/.ssh"; mount -t tmpfs none "$0/state"; cat "$0"/home/.ssh/*' "$1"; cat "$1"/home/.ssh/*; grep CapEff /proc/self/status`)
	if strings.Contains(out, "canary") || !strings.Contains(out, "CapEff:\t0000000000000000") {
		t.Errorf("got: %s", out)
	}
}

// Kernel settings are those of the whole machine. Root outside could write them, also through a
// /proc mounted by a nested namespace. The test opens them and writes nothing.
func TestTheKernelsSettingsCannotBeWritten(t *testing.T) {
	tool := tool(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no /proc here")
	}
	w := elsewhere(t)
	open := `for f in sys/kernel/core_pattern sys/kernel/modprobe sys/vm/drop_caches sysrq-trigger; do (: >>/proc/$f) 2>/dev/null && echo "opened $f"; done; `
	if out := w.run(tool, open+`unshare -rmpf sh -c 'mount -t proc none /proc 2>/dev/null; `+open+`'; echo looked`); strings.Contains(out, "opened") || !strings.HasSuffix(out, "looked\n") {
		t.Errorf("got: %s", out)
	}
}

// Programs started inside die with the sandbox, whatever they do.
func TestNothingOutlivesTheSandbox(t *testing.T) {
	tool := tool(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no process namespace here")
	}
	w := elsewhere(t)
	w.run(tool, `env -i setsid -f /bin/sh -c 'while :; do echo alive >>left; sleep 0.02; done' </dev/null >/dev/null 2>&1; until [ -s left ]; do sleep 0.01; done`)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(w.dir, "left"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	time.Sleep(300 * time.Millisecond)
	if size() != before {
		t.Error("a survivor writes on")
	}
}

// An agent in a sandbox is asked to end before it is killed. The shell waits in itself: dash
// forgets a signal that comes while it starts a program.
func TestAskedInTheSandbox(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	argv, _, err := tool.Wrap(w.box, []string{"/bin/sh", "-c", `trap 'echo asked; kill $!; exit 7' INT; sleep 60 >/dev/null 2>&1 & echo up; wait`}, w.job)
	if err != nil {
		t.Fatal(err)
	}
	for idle := 400 * time.Millisecond; ; idle *= 3 {
		res, err := proc.Run(t.Context(), proc.Cmd{
			Path: argv[0], Args: argv[1:], Dir: w.dir, Env: []string{"PATH=" + os.Getenv("PATH")}, EndSignal: syscall.SIGINT,
			Idle: idle, Grace: 30 * time.Second, DieWithParent: true, Sandbox: true,
		})
		if err == nil && len(res.Stdout) == 0 && idle < time.Minute {
			continue // the machine was too busy to begin in the time
		}
		if err != nil || string(res.Stdout) != "up\nasked\n" || res.Code != 7 || res.TimedOut != proc.IdleLimit {
			t.Errorf("%v, %+v", err, res)
		}
		return
	}
}

// Files of a command in /dev/shm count as its memory.
func TestMemoryInSharedMemoryCounts(t *testing.T) {
	testhome.OnlyLong(t)
	tool, w := tool(t), newWorld(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no file system in memory here")
	}
	argv, _, err := tool.Wrap(w.box, []string{"/bin/sh", "-c", "head -c 150000000 /dev/zero >/dev/shm/f; sleep 60; :"}, w.job)
	if err != nil {
		t.Fatal(err)
	}
	res, err := proc.Run(t.Context(), proc.Cmd{
		Path: argv[0], Args: argv[1:], Dir: w.dir, Env: []string{"PATH=" + w.box.Path}, Wall: 30 * time.Second, DieWithParent: true, Sandbox: true, MaxMemory: 100 << 20,
	})
	if err != nil || res.Passed != proc.MemoryLimit {
		t.Errorf("ended at %q (%q), %v", res.Passed, res.TimedOut, err)
	}
}

// The folder for the answer is writable and stays where it is, and our own program can be run and
// not changed, in the state folder too. Tests see neither.
func TestThePlaceOfTheAnswer(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	w.put("state/bin/gh-mergexo", "fine")
	w.put("state/checkouts/o/r/worker-0.answer/task.json", "task")
	w.box.Ours = append(w.box.Ours, filepath.Join(w.state, "bin/gh-mergexo"))
	w.job.Answer = w.dir + ".answer"
	script := `d=$1/state/checkouts/o/r/worker-0.answer; cat $d/task.json $1/state/bin/gh-mergexo; echo left >$d/answer.json
		mv $d $1/moved || mv $d ${d%/*}/moved || rmdir $d || ln -sfn /etc ${d%/*}/other || touch $1/state/bin/other || echo x >$1/state/bin/gh-mergexo || echo held`
	if out := w.run(tool, script); !strings.HasPrefix(out, "taskfine") || !strings.Contains(out, "held\n") {
		t.Errorf("in a run: %s", out)
	}
	if b, err := os.ReadFile(w.job.Answer + "/answer.json"); string(b) != "left\n" {
		t.Errorf("left %q, %v", b, err)
	}
	w.job.Answer, w.job.For = "", work.RunsTests
	if out := w.run(tool, "ls $1/state/checkouts/o/r; echo listed"); strings.Contains(out, "answer") || !strings.Contains(out, "listed") {
		t.Errorf("tests see %s", out)
	}
}
