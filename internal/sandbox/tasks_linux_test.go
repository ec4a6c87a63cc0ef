package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The kernel bounds what runs inside, also in a nested namespace, and nobody inside can raise the bound.
func TestTheNumberOfTasksIsBounded(t *testing.T) {
	tool := tool(t)
	if tool.root { // whose processes the kernel does not bound
		asAnotherUser(t)
		return
	}
	const bomb = `i=0; while [ $i -lt 100 ]; do sleep 60 >/dev/null 2>&1 & i=$((i+1)); done; echo all`
	for name, script := range map[string]string{
		"at once": bomb, "raised": `ulimit -u 1000 || ulimit -p 1000; ` + bomb, "nested": `unshare -rpf sh -c '` + bomb + `'`,
	} {
		for most, all := range map[int]bool{0: true, 50: false, 1000: true} {
			w := newWorld(t)
			w.box.MaxTasks = most
			if out := w.run(tool, script); strings.Contains(out, "all\n") != all {
				t.Errorf("%s, at most %d: %q", name, most, out)
			}
		}
	}
}

// asAnotherUser runs the test that is running as a user who is not root.
func asAnotherUser(t *testing.T) {
	t.Helper()
	const nobody = 65534
	dir, err := os.MkdirTemp("", "another-user-") // another user may not look into the test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, err := os.ReadFile(os.Args[0])
	program := filepath.Join(dir, "test")
	if err = errors.Join(err, os.Chown(dir, nobody, nobody), os.WriteFile(program, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), program, "-test.v", "-test.run", "^"+t.Name()+"$")
	again.Dir = dir
	again.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "CI=" + os.Getenv("CI")}
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := again.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("as another user: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("as another user: %s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("another user ran nothing: %s", out)
	}
}

// Root's programs start without the shell that limits: it would limit nothing.
func TestTheBoundStandsBeforeTheCommand(t *testing.T) {
	argv := []string{"/bin/true", "a b"}
	for _, tt := range []struct {
		tool  Tool
		tasks int
		want  int
	}{{Tool{}, 0, 0}, {Tool{root: true}, 50, 0}, {Tool{}, 50, 5}} {
		line := tt.tool.bounded(tt.tasks, argv)
		if len(line) != tt.want+len(argv) || !slices.Equal(line[tt.want:], argv) {
			t.Errorf("%+v: %q", tt, line)
		}
	}
}
