package sandbox

import (
	"slices"
	"strings"
	"testing"
)

// The kernel bounds what runs inside, also in a nested namespace, and nobody inside can raise the bound.
func TestTheNumberOfTasksIsBounded(t *testing.T) {
	tool := tool(t)
	if tool.root {
		t.Skip("the kernel bounds no process of root")
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
