package claude

import (
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// step interprets a line of output.
func step(line []byte) agent.Step {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &e) != nil {
		return agent.Step{}
	}
	s := agent.Step{Trouble: e.Type == "system" && e.Subtype == "api_retry", Aside: e.Type == "result", Session: e.Session}
	var blocks []struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		Result string `json:"tool_use_id"`
	}
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		return s
	}
	for _, b := range blocks {
		switch {
		case e.Type == "user" && b.Type == "text": // "[agent.Request interrupted by user]"
			s.Aside = true
		case b.Type == "tool_use" && b.Name == "Bash":
			s.Begun = append(s.Begun, b.ID)
		case b.Type == "tool_result":
			s.Ended = append(s.Ended, b.Result)
		}
	}
	return s
}
