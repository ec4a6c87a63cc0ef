//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
)

// codex puts each of its commands into a sandbox of its own, and makes that of
// what the table of mounts names: also of the folder that stands behind /tmp.
// So that folder, too, has to be there inside.
func TestTheRealCodexRunsCommandsInTheSandbox(t *testing.T) {
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
