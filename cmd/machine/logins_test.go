package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

// TestTheTokensOfTheMachineAreKnown: by name and look, from the environment
// and from files of credentials.
func TestTheTokensOfTheMachineAreKnown(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".git-credentials":                "https://me:gitpassword-1234@github.com\nnonsense\n",
		".netrc":                          "machine x login me password netrcpassword-1234\n",
		".codex/auth.json":                `{"OPENAI_API_KEY":null,"tokens":{"access_token":"codextoken-12345","account_id":"account-1234567"}}`,
		"xdg/git/credentials":             "https://gittoken-1234:@github.com\nhttps://gittoken-5678@github.com\n",
		"homes/codex/auth.json":           `{"OPENAI_API_KEY":"codexkey-12345"}`,
		"homes/claude/settings.json":      `{"env":{"ANTHROPIC_AUTH_TOKEN":"claudekey-12345"},"model":"claude-model-12345"}`,
		".local/share/opencode/auth.json": `{"anthropic":{"type":"oauth","refresh":"opencoderefresh-1","access":"opencodeaccess-1","expires":1}}`,
		"data/kilo/auth.json":             `{"kilo":{"type":"api","key":"kilokey-12345"}}`,
		".gemini/oauth_creds.json":        `{"access_token":"geminiaccess-1","scope":"https://x/12345","id_token":"geminiid-12345"}`,
		".gemini/.env":                    "# mine\nexport GEMINI_API_KEY=\"geminikey-12345\"\n",
		".copilot/config.json":            `{"copilot_tokens":{"https://github.com:me":"copilottoken-1"},"banner":"never-12345678"}`,
		".qwen/oauth_creds.json":          `{"refresh_token":"qwenrefresh-1","expiry_date":"2026-11-28T00:00"}`,
		"xdg/goose/secrets.yaml":          "OPENAI_API_KEY: goosekey-12345\n",
		".augment/session.json":           `{"accessToken":"augmenttoken-1","tenantURL":"https://x.example/12345"}`,
		".claude/.credentials.json":       `{"claudeAiOauth":{"accessToken":"claudetoken-12345","scopes":["user:profile1"]}}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := environ.Of([]string{
		"HOME=" + home, "MY_API_KEY=keyvalue-12345", "GITHUB_TOKEN=ghtoken-1234567", "SSH_AUTH_SOCK=/tmp/ssh-1234567/agent", "AUTH_URL=https://x.example/12345",
		"TOKEN_HINT=ask the owner 12345", "TOKEN=short1", "SECRET_WORD=nothing-but-letters", "PLAIN=novalue-1234567",
		"CODEX_HOME=" + filepath.Join(home, "homes/codex"), "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "homes/claude"), "XDG_CONFIG_HOME=" + filepath.Join(home, "xdg"), "XDG_DATA_HOME=" + filepath.Join(home, "data"),
	})
	got := env.Secrets(Logins(env)...)
	want := []string{
		"augmenttoken-1", "claudekey-12345", "claudetoken-12345", "codexkey-12345", "codextoken-12345", "copilottoken-1", "geminiaccess-1", "geminiid-12345", "geminikey-12345",
		"ghtoken-1234567", "gitpassword-1234", "gittoken-1234", "gittoken-5678", "goosekey-12345", "keyvalue-12345", "kilokey-12345", "netrcpassword-1234", "opencodeaccess-1", "opencoderefresh-1", "qwenrefresh-1",
	}
	var values []string
	for v := range got {
		values = append(values, v)
	}
	slices.Sort(values)
	if !slices.Equal(values, want) {
		t.Errorf("got %q, want %q", values, want)
	}
	if got["keyvalue-12345"] != "the value of MY_API_KEY" {
		t.Errorf("it is called %q", got["keyvalue-12345"])
	}
}

// What a scheduler's job lacks of a login is said; what nobody can know is not.
func TestLoginLacking(t *testing.T) {
	in, out, keychain := agent.Login{Known: true, In: true}, agent.Login{Known: true}, agent.Login{Keychain: true}
	for _, c := range []struct {
		here, job agent.Login
		locked    bool
		want      string
	}{
		{in, in, true, ""},
		{out, out, true, ""},
		{in, agent.Login{}, true, ""},
		{keychain, keychain, false, ""},
		{in, in, false, ""},
		{in, out, false, "has a login here"},
		{keychain, keychain, true, "in the keychain"},
		{in, keychain, true, "in the keychain"},
	} {
		got := loginLacking("claude", "launchd", c.here, c.job, c.locked)
		if (got != nil) != (c.want != "") || got != nil && (!strings.Contains(got.Says, c.want) || got.Do == "") {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
