package codex

import (
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// step interprets a line of output.
func step(line []byte) agent.Step {
	var e struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Item   struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"item"`
	}
	if json.Unmarshal(line, &e) != nil {
		return agent.Step{}
	}
	s := agent.Step{Trouble: e.Type == "error", Session: e.Thread}
	switch {
	case e.Item.Type != "command_execution":
	case e.Type == "item.started":
		s.Begun = []string{e.Item.ID}
	case e.Type == "item.completed":
		s.Ended = []string{e.Item.ID}
	}
	return s
}
