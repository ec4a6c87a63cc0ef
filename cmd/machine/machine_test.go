package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// A git or a bwrap that an agent put where it writes is not the one that runs
// outside of its sandbox.
func TestProgramsThatRunOutsideComeFromNoFolderOfAnAgent(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	var path []string
	for _, dir := range []string{"home/.codex/bin", "home/.claude/local", "home/out/x", "state/bin", "home/bin", "home/outer"} {
		path = append(path, filepath.Join(root, dir))
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "out"), filepath.Join(root, "link")); err != nil {
		t.Skip("no links here: ", err)
	}
	path = append(path, filepath.Join(root, "link"), filepath.Join(root, "link", "x"))
	env := environ.Of([]string{"HOME=" + home, "PATH=" + strings.Join(path, string(filepath.ListSeparator))})
	cfg := &config.Config{Agents: map[string]config.Agent{
		"codex": {Adapter: config.AdapterCodex}, "claude": {Adapter: config.AdapterClaude, Writable: []string{filepath.Join(home, "out")}},
	}}
	cfg.Runtime.StateDir = filepath.Join(root, "state")
	want := []string{filepath.Join(home, "bin"), filepath.Join(home, "outer")}
	if got := filepath.SplitList(hostPath(cfg, env)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	m := &Machine{cfg: cfg, env: env}
	if all := m.hostGit(); !slices.Contains(all, "PATH="+strings.Join(want, string(filepath.ListSeparator))) {
		t.Errorf("git's environment: %q", all)
	}
}

func TestWhatAnAgentPrintsIsMasked(t *testing.T) {
	var known secrets.Redactor
	known.Add("known-token-12345", "gh's token")
	m := &Machine{secrets: &known, env: environ.Of([]string{"MODEL_KEY=mk-123", "MODE=on"})}
	if got := m.redactorFor([]string{"MODEL_KEY", "MODE"})("mk-123 on known-token-12345"); got != "[MODEL_KEY] on [redacted: gh's token]" {
		t.Errorf("got %q", got)
	}
}
