//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// toolOnPath is a program outside the system's folders, on the agent's PATH.
func toolOnPath(t *testing.T, r *rig) (name string) {
	t.Helper()
	bin := testhome.New(t)
	if err := os.WriteFile(filepath.Join(bin, "some-tool"), []byte("#!/bin/sh\necho the tool ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, v := range r.spec.Environ {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			r.spec.Environ[i] = "PATH=" + path + string(filepath.ListSeparator) + bin
		}
	}
	return "some-tool"
}

// What is installed outside the system's folders is found by an agent's commands:
// Go, cargo, what nvm installs.
func TestAnAgentsCommandsFindWhatIsOnPath(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		tool := toolOnPath(t, r)
		run := modelsim.Reply{Run: tool}
		if r.spec.Adapter.Name == claudeName {
			run = modelsim.Reply{Tool: &modelsim.Call{Name: "Bash", Input: map[string]any{"command": tool, "description": "run it"}}}
		}
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if len(q.Results) == 0 {
				return run
			}
			return modelsim.Reply{Answer: answer("Done")}
		})
		r.must(r.request("Begin."))
		all := r.model.Queries()
		if told := strings.Join(all[len(all)-1].Results, "\n"); !strings.Contains(told, "the tool ran") {
			t.Errorf("its command said %s", told)
		}
	})
}

// Codex's commands write to the folders that they may write to beside the checkout,
// and not to one that holds codex's own home.
func TestCodexsCommandsWriteWhereTheyMay(t *testing.T) {
	r := newRig(t, codexName)
	may, mayNot := testhome.New(t), testhome.New(t)
	home := filepath.Join(mayNot, "codex")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	r.setEnv("CODEX_HOME", home)
	r.spec.Writable = []string{may, mayNot}
	r.model.Script(func(q modelsim.Query) modelsim.Reply {
		if len(q.Results) == 0 {
			return modelsim.Reply{Run: "echo x >" + may + "/made; echo x >" + mayNot + "/made; echo x >" + home + "/made"}
		}
		return modelsim.Reply{Answer: answer("Done")}
	})
	r.must(r.request("Begin."))
	if _, err := os.Stat(filepath.Join(may, "made")); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{mayNot, home} {
		if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
			t.Errorf("it wrote to %s", dir)
		}
	}
}
