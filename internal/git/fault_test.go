package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// unprivileged is a git that folders without write permission refuse, also when root runs the tests.
func (w *world) unprivileged() string {
	w.t.Helper()
	if os.Geteuid() != 0 {
		return ""
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		w.t.Skip("root ignores permissions, and there is no setpriv to give that up")
	}
	return w.fake("exec setpriv --bounding-set=-all --inh-caps=-all git \"$@\"\n")
}

// TestAGitThatMayNotUseItsFoldersIsAFaultOfTheMachine: with each folder of the mirror shut in turn,
// nothing is remade, and all works once it is open again.
func TestAGitThatMayNotUseItsFoldersIsAFaultOfTheMachine(t *testing.T) {
	for _, c := range []struct {
		shut string
		mode os.FileMode
	}{
		{"objects", 0o500},
		{"refs/remotes/origin", 0o500},
		{"packed-refs", 0},
	} {
		t.Run(c.shut, func(t *testing.T) {
			w := newWorld(t, tree)
			w.open(Options{Bin: w.unprivileged()})
			w.restore()
			w.check(w.mirror.KeepTurn(t.Context(), key1, w.next(w.main(), "paid for")))
			w.cmd(w.mirror.Dir(), "pack-refs", "--all")
			w.put("new", "new")
			path := filepath.Join(w.mirror.Dir(), filepath.FromSlash(c.shut))
			w.check(os.MkdirAll(filepath.Join(w.mirror.Dir(), "refs/remotes/origin"), 0o700))
			info, err := os.Stat(path)
			w.check(err)
			w.mirror.Close()
			w.check(os.Chmod(path, c.mode))
			err = fetchNew(w)
			w.check(os.Chmod(path, info.Mode()))
			fault, ok := errors.AsType[*work.MachineError](err)
			if !ok || !strings.Contains(fault.Do, "chmod -R u+rwX") {
				t.Errorf("%s: %v", c.shut, err)
			}
			w.check(fetchNew(w))
			if got, ok := w.kept(key1); !ok || w.show(got, "next.txt") != "paid for" {
				t.Errorf("%s: turn = %q %v", c.shut, got, ok)
			}
		})
	}
}

func fetchNew(w *world) error {
	w.commit("another", map[string]string{"pushed": "x"})
	return w.mirror.Fetch(w.t.Context())
}

// TestWhatGitSaysOfTheMachine: git tells a fault of this machine in prose only. What a remote says of
// itself, a server, or a file that an agent left is none.
func TestWhatGitSaysOfTheMachine(t *testing.T) {
	c := command{GitDir: "/state/repos/m.git", Index: "/state/checkouts/w.index", Objects: []string{"GIT_OBJECT_DIRECTORY=/state/q"}}
	for said, fault := range map[string]bool{
		"error: unable to write file x: No space left on device":                                                true,
		"warning: x\nfatal: cannot mkdir /w: Read-only file system\nhint: y":                                    true,
		"error: file write error: Disk quota exceeded":                                                          true,
		"fatal: read error: Input/output error":                                                                 true,
		"error: insufficient permission for adding an object to repository database /state/repos/m.git/objects": true,
		"fatal: Unable to create '/state/checkouts/w.index.lock': Permission denied":                            true,
		"fatal: mkdir /state/q/ab: Operation not permitted":                                                     true,

		"error: open(\"secret\"): Permission denied\nfatal: adding files failed":                        false,
		"git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.": false,
		"remote: fatal: write error: No space left on device\nerror: remote unpack failed":              false,
		"remote: error: insufficient permission for adding an object to repository database objects":    false,
		"fatal: unable to access 'https://github.com/o/r/': Could not resolve host: github.com":         false,
		"warning: unable to access '/home/me/.gitattributes': Permission denied\nfatal: bad object":     false,
	} {
		err := c.failure("fetch", 128, said)
		if _, got := errors.AsType[*work.MachineError](err); got != fault {
			t.Errorf("%q: %T", said, err)
		}
	}
}

// TestErrorsComeFirst: people see what failed before what git warns of and advises.
func TestErrorsComeFirst(t *testing.T) {
	for said, want := range map[string]string{
		"fatal: a\n":                                                  "fatal: a",
		"warning: a\nfatal: b\n":                                      "fatal: b; warning: a",
		"error: a\nfatal: b\nhint: c":                                 "error: a; fatal: b; hint: c",
		"error: a\nhint: 1\nhint: 2\nhint: 3\nhint: 4":                "error: a; hint: 3; hint: 4",
		"Receiving 1%\rReceiving 2%\rReceiving 3%\rfatal: b\nhint: c": "fatal: b; Receiving 2%; Receiving 3%",
		"error: 1\nerror: 2\nerror: 3\nerror: 4\nplain":               "error: 2; error: 3; error: 4",
	} {
		if got := gist(said, 3); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}
