package modelsim

import (
	"fmt"
	"strconv"
	"time"
)

// CodexArgs are arguments by which codex takes this server for its provider,
// with its key in a variable. It does not try again.
func (s *Server) CodexArgs(key string) []string {
	return []string{
		"-c", `model_provider="sim"`,
		"-c", fmt.Sprintf(`model_providers.sim={name="sim",base_url=%q,env_key=%q,wire_api="responses",requires_openai_auth=false,request_max_retries=0,stream_max_retries=0}`, s.OpenAI(), key),
	}
}

// ACP is how a program that speaks the Agent Client Protocol takes this server for its provider:
// variables, and files below its home folder. A dummy key is in TEST_KEY, or in the program's own
// variable.
func (s *Server) ACP(program string) (variables [][2]string, files map[string]string) {
	switch program {
	case "claude-agent-acp":
		return [][2]string{{"ANTHROPIC_BASE_URL", s.Anthropic()}, {"ANTHROPIC_API_KEY", "dummy-key"}, {"CLAUDE_CODE_MAX_RETRIES", "0"}}, nil
	case "codex-acp":
		const config = `model = "gpt-5.5"
model_provider = "sim"
[model_providers.sim]
name = "sim"
base_url = %q
env_key = "TEST_KEY"
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
`
		return [][2]string{{"TEST_KEY", "dummy-key"}}, map[string]string{".codex/config.toml": fmt.Sprintf(config, s.OpenAI())}
	case "opencode":
		return [][2]string{{"TEST_KEY", "dummy-key"}}, map[string]string{".config/opencode/opencode.json": text(map[string]any{
			"model": "sim/claude-sonnet-4-5", "autoupdate": false,
			"provider": map[string]any{"sim": map[string]any{
				"npm": "@ai-sdk/anthropic", "options": map[string]any{"baseURL": s.Anthropic() + "/v1", "apiKey": "{env:TEST_KEY}"},
				"models": map[string]any{"claude-sonnet-4-5": map[string]any{"attachment": true, "modalities": map[string]any{"input": []string{"text", "image"}, "output": []string{"text"}}}},
			}},
		})}
	case "copilot":
		return [][2]string{
			{"COPILOT_OFFLINE", "true"},
			{"COPILOT_PROVIDER_TYPE", "anthropic"},
			{"COPILOT_PROVIDER_BASE_URL", s.Anthropic()},
			{"COPILOT_PROVIDER_API_KEY", "dummy-key"},
			{"COPILOT_MODEL", "claude-sonnet-4.5"},
		}, nil
	}
	panic("modelsim: no settings for " + program)
}

// UsageLimit is how both providers say that what was paid for is used up.
func UsageLimit(until time.Time) *Error {
	at := strconv.FormatInt(until.Unix(), 10)
	return &Error{
		Status: 429, Type: "usage_limit_reached", Text: "The usage limit has been reached.",
		More: map[string]any{"plan_type": "plus", "resets_at": until.Unix()},
		Header: map[string]string{
			"x-codex-primary-used-percent": "100", "x-codex-primary-window-minutes": "300", "x-codex-primary-reset-at": at,
			"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": at,
			"anthropic-ratelimit-unified-representative-claim": "five_hour",
		},
	}
}
