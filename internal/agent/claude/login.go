package claude

import (
	"encoding/json"
	"runtime"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// login reads claude's own files. On macOS the login itself is in the keychain, and the files name
// the account.
func login(s agent.Spec) agent.Login {
	const do = "claude, and /login there; or give it a key: env_pass = [\"ANTHROPIC_API_KEY\"]"
	keys := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}
	if name := agent.FirstSet(s.Environ, keys...); name != "" {
		return agent.Login{Known: true, In: true, Says: "by " + name}
	}
	var stored struct {
		OAuth *struct{} `json:"claudeAiOauth"`
	}
	if json.Unmarshal([]byte(s.ReadHome(".credentials.json")), &stored) == nil && stored.OAuth != nil {
		return agent.Login{Known: true, In: true, Says: "logged in, by .credentials.json of claude"}
	}
	settings := s.ReadHome("settings.json")
	for _, key := range append(keys, "apiKeyHelper") {
		if strings.Contains(settings, key) {
			return agent.Login{Known: true, In: true, Says: "by " + key + " in settings.json of claude"}
		}
	}
	if runtime.GOOS == "darwin" {
		return agent.Login{Says: "macOS keeps claude's login in the keychain: whether there is one shows when it is used"}
	}
	return agent.Login{Known: true, Says: "not logged in: claude has neither a login nor a key", Do: do}
}
