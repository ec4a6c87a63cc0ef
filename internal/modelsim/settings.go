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
