package agent_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// TestLogins: what codex and claude keep in their folders, and the environment, tell
// whether they are logged in.
func TestLogins(t *testing.T) {
	const in, out, unknown = "in", "out", "unknown"
	nobody := out
	if runtime.GOOS == "darwin" { // where claude has a keychain
		nobody = unknown
	}
	for name, c := range map[string]struct {
		adapter string
		files   map[string]string
		env     []string
		want    string
	}{
		"codex without anything":        {codexName, nil, nil, out},
		"codex with a login":            {codexName, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}`}, nil, in},
		"codex that logged out":         {codexName, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":null,"tokens":null}`}, nil, out},
		"codex with a key in its file":  {codexName, map[string]string{".codex/auth.json": `{"OPENAI_API_KEY":"x"}`}, nil, in},
		"codex with a key":              {codexName, nil, []string{"CODEX_API_KEY=x"}, in},
		"codex ignores another key":     {codexName, nil, []string{"OPENAI_API_KEY=x"}, out},
		"codex with its own provider":   {codexName, map[string]string{".codex/config.toml": "model_provider = \"mine\"\n"}, nil, unknown},
		"codex with a keyring":          {codexName, map[string]string{".codex/config.toml": "cli_auth_credentials_store = \"keyring\"\n"}, nil, unknown},
		"codex in another folder":       {codexName, map[string]string{"elsewhere/auth.json": `{"tokens":{}}`}, []string{"CODEX_HOME=HOME/elsewhere"}, in},
		"claude without anything":       {claudeName, nil, nil, nobody},
		"claude with a login":           {claudeName, map[string]string{".claude/.credentials.json": `{"claudeAiOauth":{"accessToken":"x"}}`}, nil, in},
		"claude with a key":             {claudeName, nil, []string{"ANTHROPIC_API_KEY=x"}, in},
		"claude with a helper for keys": {claudeName, map[string]string{".claude/settings.json": `{"apiKeyHelper":"/bin/key"}`}, nil, in},
		"any program":                   {commandName, nil, nil, unknown},
	} {
		home := t.TempDir()
		for path, text := range c.files {
			path = filepath.Join(home, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		environ := []string{"HOME=" + home}
		for _, v := range c.env {
			if v == "CODEX_HOME=HOME/elsewhere" {
				v = "CODEX_HOME=" + filepath.Join(home, "elsewhere")
			}
			environ = append(environ, v)
		}
		got := agent.LoginOf(agent.Spec{Name: "a", Adapter: adapters[c.adapter], Environ: environ})
		word := map[bool]string{true: in, false: out}[got.In]
		if !got.Known {
			word = unknown
		}
		if word != c.want {
			t.Errorf("%s: %s (%s), want %s", name, word, got.Says, c.want)
		}
		if word == out && got.Do == "" {
			t.Errorf("%s: nothing says how to log in", name)
		}
	}
}
