package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

func TestVersionsThatDrift(t *testing.T) {
	for _, tt := range []struct{ adapter, version, want string }{
		{codexName, "0.169.0", ""},
		{codexName, "0.166.0", ""},
		{codexName, "0.165.9", "version 0.165.9 of its program is too old; run `npm install -g @openai/codex@latest` to get 0.166.0 or later"},
		{codexName, "0.99.0", "too old"},
		{codexName, "0.166.0-alpha.3", "too old"},
		{codexName, "0.167.0", ""},
		{codexName, "0.169.12", ""},
		{codexName, "1.0.0", "0.166.0 and 0.169.0 are known to work"},
		{codexName, "0.170.0-alpha.1", "is newer than those tested with gh mergexo"},
		{claudeName, "2.1.330", ""},
		{claudeName, "2.1.30", "too old; run `npm install -g @anthropic-ai/claude-code@latest`"},
		{claudeName, "2.1.400", ""},
		{claudeName, "2.2.0", "is newer than those tested"},
		{claudeName, "", ""},
		{commandName, "", ""},
		{commandName, "0.1.0", ""},
	} {
		got := agent.Drift(agent.Spec{Name: "mine", Adapter: adapters[tt.adapter]}, tt.version)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
			t.Errorf("%s %q: %q, want %q", tt.adapter, tt.version, got, tt.want)
		}
	}
}

func TestTheVersionIsWhatTheProgramSays(t *testing.T) {
	testhome.OnlyLong(t)
	for said, want := range map[string]string{
		"codex-cli 0.169.0": "0.169.0", "2.1.330 (Claude Code)": "2.1.330", "codex-cli 0.170.0-alpha.1": "0.170.0-alpha.1", "no version": "", "": "",
	} {
		s := spec(t, program(t, `[ "$1" = --version ] && echo "`+said+`"`))
		s.Adapter = adapters[codexName]
		if got := agent.Version(t.Context(), s, t.TempDir()); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	s := spec(t, program(t, `touch "$(dirname "$0")/asked"`))
	if got := agent.Version(t.Context(), s, t.TempDir()); got != "" {
		t.Errorf("a program of one's own: %q", got)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(s.Command[0]), "asked")); err == nil {
		t.Error("a program of one's own was started to ask for its version")
	}
	s = spec(t, program(t, "exec sleep 60"))
	s.Adapter = adapters[claudeName]
	if began := time.Now(); agent.Version(t.Context(), s, t.TempDir()) != "" || time.Since(began) > 20*time.Second {
		t.Error("a program that hangs holds the question up")
	}
}

// The versions that the tests install are in the table: whoever changes them runs
// the tests, and says here that they passed.
func TestTheInstalledVersionsAreKnown(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "modelsim", "programs", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	for adapter, name := range map[string]string{codexName: "@openai/codex", claudeName: "@anthropic-ai/claude-code"} {
		version := manifest.Dependencies[name]
		if note := agent.Drift(agent.Spec{Name: adapter, Adapter: adapters[adapter]}, version); note != "" || version == "" {
			t.Errorf("%s %q: %s", name, version, note)
		}
	}
}

// A run that ends without an answer names a version of the program that is too
// old, or that nobody has tried: that may be why.
func TestAFailedRunNamesAVersionThatDrifts(t *testing.T) {
	for _, tt := range []struct{ adapter, version, exit, want string }{
		{codexName, "codex-cli 0.120.0", "0", `agent "mine" ended without an answer; version 0.120.0 of its program is too old; run`},
		{codexName, "codex-cli 0.120.0", "2", `agent "mine" ended with exit code 2: bad flag; version 0.120.0 of its program is too old; run`},
		{claudeName, "9.0.1 (Claude Code)", "0", `version 9.0.1`},
		{codexName, "codex-cli 0.169.0", "0", `agent "mine" ended without an answer`},
	} {
		script := `case "$*" in *--version) echo '` + tt.version + `'; exit;; esac; cat >/dev/null; [ ` + tt.exit + ` = 0 ] || echo bad flag >&2; exit ` + tt.exit
		s := spec(t, program(t, script))
		s.Adapter, s.Now = adapters[tt.adapter], time.Now
		r := request(t)
		r.Session = ""
		_, err := run(t, s, r)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.HasSuffix(tt.version, "0.169.0") && strings.Contains(err.Error(), "version") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
