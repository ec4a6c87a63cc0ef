package codex

import (
	"encoding/json"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// login reads codex's own files: `codex login status` knows no more, and would have to be started.
func login(s agent.Spec) agent.Login {
	const do = "codex login, or give it a key: env_pass = [\"CODEX_API_KEY\"]"
	if name := agent.FirstSet(s.Environ, "CODEX_API_KEY"); name != "" {
		return agent.Login{Known: true, In: true, Says: "by " + name}
	}
	var auth struct {
		Key    string          `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	text := s.ReadHome("auth.json")
	if json.Unmarshal([]byte(text), &auth) == nil {
		switch {
		case len(auth.Tokens) > 0 && string(auth.Tokens) != "null":
			return agent.Login{Known: true, In: true, Says: "logged in, by auth.json of codex"}
		case auth.Key != "":
			return agent.Login{Known: true, In: true, Says: "by a key in auth.json of codex"}
		}
	}
	settings := s.ReadHome("config.toml") + strings.Join(s.Args, "\n")
	for _, word := range []string{"model_provider", "cli_auth_credentials_store", "oss"} {
		if strings.Contains(settings, word) {
			return agent.Login{Says: "it has a provider or a keyring of its own: whether it is logged in shows when it is used"}
		}
	}
	return agent.Login{Known: true, Says: "not logged in: codex has neither a login nor a key", Do: do}
}
