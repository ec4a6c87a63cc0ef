//go:build linux

package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A program is started as a turn starts it, and an agent may have changed it: in the sandbox, where it
// can write to its own home and to nothing else of the user's.
func TestAProgramIsTriedInTheSandbox(t *testing.T) {
	if _, err := sandbox.Find(t.Context(), os.Getenv("PATH")); err != nil {
		t.Skip(err)
	}
	home := testhome.New(t)
	program := filepath.Join(home, ".codex", "bin", "codex")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho stolen >" + home + "/stolen\necho x >" + home + "/.codex/changed\necho codex-cli 0.169.0\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	env := environ.Of([]string{"HOME=" + home, "PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")})
	cfg := &config.Config{
		Agents: map[string]config.Agent{"codex": {Name: "codex", Adapter: config.AdapterCodex}},
		Repos:  []config.Repo{{Name: work.RepoName{Host: "github.com", Owner: "o", Name: "r"}}},
	}
	cfg.Runtime.StateDir, cfg.Runtime.Sandbox = filepath.Join(home, "state"), work.SandboxAuto
	m := New(Options{Config: cfg, Env: env})
	if g := m.examine(t.Context(), cfg.Agents["codex"]); !g.Hides || g.Version != "0.169.0" {
		t.Errorf("got %+v", g)
	}
	if _, err := os.Stat(filepath.Join(home, "stolen")); err == nil {
		t.Error("it wrote to the user's home")
	}
}
