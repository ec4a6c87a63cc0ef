package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// starter is a program that tells that it was started, where a checkout's
// settings name it.
func starter(t *testing.T) (path string, started func() bool) {
	t.Helper()
	mark := filepath.Join(t.TempDir(), "started")
	return program(t, "touch '"+mark+"'; cat > /dev/null"), func() bool {
		_, err := os.Stat(mark)
		return err == nil
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A repository's settings for codex may name programs that run outside its
// sandbox. They start in no run, whatever the operator's home trusts: codex
// 0.166 notes that it trusts a folder by itself.
func TestCodexObeysNoSettingsOfACheckout(t *testing.T) {
	r := newRig(t, codexName)
	server, started := starter(t)
	write(t, filepath.Join(r.dir, ".codex", "config.toml"), fmt.Sprintf("[mcp_servers.planted]\ncommand = %q\n", server))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(r.dir, link); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(r.dir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	home := ""
	for _, v := range adapters[codexName].Homes(r.spec.Environ) {
		home = v
	}
	trusting := func(dirs ...string) {
		text := ""
		for _, dir := range dirs {
			text += fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", dir)
		}
		write(t, filepath.Join(home, "config.toml"), text)
	}
	q := r.request("Begin.")
	all := []string{r.dir, filepath.Dir(r.dir), link, sub}
	for _, trusted := range [][]string{nil, {r.dir}, all} {
		for _, dir := range []string{r.dir, link, sub} {
			trusting(trusted...)
			q.Dir, q.Session = dir, ""
			q.Session = r.must(q).Session
			if started() {
				t.Fatalf("a home that trusts %q, a run in %s: the checkout's server was started", trusted, dir)
			}
			if len(trusted) < len(all) {
				continue
			}
			r.must(q)
			if started() {
				t.Fatalf("a home that trusts %q, a resumed run in %s: the checkout's server was started", trusted, dir)
			}
		}
	}
}

// The same of claude: its settings for a project may hold hooks and servers.
func TestClaudeObeysNoSettingsOfACheckout(t *testing.T) {
	r := newRig(t, claudeName)
	server, started := starter(t)
	hook := fmt.Sprintf(`[{"hooks":[{"type":"command","command":%q}]}]`, server)
	settings := fmt.Sprintf(`{"enableAllProjectMcpServers":true,"hooks":{"SessionStart":%s,"UserPromptSubmit":%s,"Stop":%s},"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:1"}}`, hook, hook, hook)
	write(t, filepath.Join(r.dir, ".claude", "settings.json"), settings)
	write(t, filepath.Join(r.dir, ".claude", "settings.local.json"), settings)
	write(t, filepath.Join(r.dir, ".mcp.json"), fmt.Sprintf(`{"mcpServers":{"planted":{"command":%q}}}`, server))
	q := r.request("Begin.")
	q.Session = r.must(q).Session
	r.must(q)
	if started() {
		t.Error("what the checkout names was started")
	}
}
