//go:build unix

package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

const botToken = "token-of-quinn-bot"

// withGh is a machine whose gh is a program that says this.
func withGh(t *testing.T, script string) (m *Machine, asked func() []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "asked")
	path := filepath.Join(dir, "bin")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if script != "" {
		script = "#!/bin/sh\necho \"$*\" >>" + log + "\n" + script
		if err := os.WriteFile(filepath.Join(path, "gh"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := environ.Of([]string{"HOME=" + dir, "PATH=" + path, "GH_TOKEN=mine", "GITHUB_TOKEN=mine", "GH_ENTERPRISE_TOKEN=mine", "GITHUB_ENTERPRISE_TOKEN=mine", "GH_CONFIG_DIR=" + dir})
	cfg := &config.Config{Runtime: config.Runtime{StateDir: filepath.Join(dir, "state")}}
	m = New(Options{Config: cfg, Env: env, Secrets: &secrets.Redactor{}, Now: time.Now})
	return m, func() []string {
		said, _ := os.ReadFile(log)
		return strings.Split(strings.TrimSpace(string(said)), "\n")
	}
}

// knowsBot is a gh with one account, which refuses where a token is in its environment.
const knowsBot = `test -z "$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_ENTERPRISE_TOKEN" || exit 9
test -n "$GH_CONFIG_DIR" || exit 8
case "$*" in
--version) echo "gh version %s (2024-01-01)" ;;
"auth token --hostname github.com --user quinn-bot") echo ` + botToken + ` ;;
*) echo "no oauth token found for github.com account" >&2; exit 1 ;;
esac
`

func TestTheTokenOfAnAccountIsAskedForOnce(t *testing.T) {
	m, asked := withGh(t, fmt.Sprintf(knowsBot, "2.40.0"))
	first, err := m.as(t.Context(), login{"github.com", "quinn-bot"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.as(t.Context(), login{"github.com", "quinn-bot"}, nil)
	if err != nil || again != first {
		t.Errorf("another client, %v", err)
	}
	if _, err := m.as(t.Context(), login{"github.com", "sam-bot"}, nil); err == nil {
		t.Error("gh knows no sam-bot")
	}
	want := []string{"--version", "auth token --hostname github.com --user quinn-bot", "auth token --hostname github.com --user sam-bot"}
	if got := asked(); !slices.Equal(got, want) {
		t.Errorf("gh was asked %q, want %q", got, want)
	}
	if got := m.secrets.Redact("it is " + botToken); strings.Contains(got, botToken) || !strings.Contains(got, "the token of quinn-bot") {
		t.Errorf("redacted: %q", got)
	}
}

func TestAnAccountWithoutATokenIsOneStop(t *testing.T) {
	for _, c := range []struct{ name, script, text, advice string }{
		{"no gh", "", "gh is not on PATH", "install gh 2.40 or later"},
		{"an old gh", fmt.Sprintf(knowsBot, "2.39.2"), "gh 2.39.2 is too old to have the tokens of several accounts", "install gh 2.40 or later"},
		{"an older gh", fmt.Sprintf(knowsBot, "1.99.0"), "gh 1.99.0 is too old", "install gh 2.40 or later"},
		{"a gh that breaks", "echo no keyring >&2\nexit 2\n", "gh does not start: gh --version ended with code 2: no keyring", "install gh"},
		{"an unknown account", fmt.Sprintf(knowsBot, "2.40.0"), "gh has no token for it: gh auth ended with code 1: no oauth token found", "gh auth login --hostname github.com"},
		{"no token", "echo gh version 2.60.1\n", "gh has no token for it", "gh auth status --hostname github.com"}, // several words
		{"a token in an error", "case $1 in --version) echo gh version 2.40.0;; *) echo ghp_" + strings.Repeat("aB3d", 9) + " >&2; exit 1;; esac\n", "[redacted: a GitHub token]", "gh auth login"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := withGh(t, c.script)
			_, err := m.as(t.Context(), login{"github.com", "ada-bot"}, nil)
			blocked, ok := errors.AsType[*work.BlockedError](err)
			if !ok {
				t.Fatalf("%v", err)
			}
			r := blocked.Reason
			if r.Kind != work.WhyReviewerAccount || r.Who != "ada-bot" || !strings.Contains(r.Text, c.text) || !strings.Contains(r.Advice, c.advice) {
				t.Errorf("got %+v, want %q and %q", r, c.text, c.advice)
			}
		})
	}
}

// A gh that somebody built has no number, and newer ones have greater.
func TestVersionsOfGhThatWillDo(t *testing.T) {
	for _, version := range []string{"2.40.0", "2.41.0-pre.1", "2.100.3", "3.0.0", "DEV", "v2.83.0"} {
		m, _ := withGh(t, fmt.Sprintf(knowsBot, version))
		if _, err := m.as(t.Context(), login{"github.com", "quinn-bot"}, nil); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}
