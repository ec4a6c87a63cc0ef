package env

import (
	"encoding/json"

	"github.com/mergexo/gh-mergexo/prompts"
)

// ToldBase is the base commit that a stored prompt speaks of.
func ToldBase(stored []byte) string {
	var req Request
	if json.Unmarshal(stored, &req) != nil || req.Context.Conflict == nil {
		return ""
	}
	return req.Context.Conflict.BaseSHA
}

// Told is what the turn's agent was told, as it is stored; nothing before that.
func (l *Lease) Told() prompts.Context {
	var req Request
	if json.Unmarshal(l.Turn.Request, &req) != nil {
		return prompts.Context{}
	}
	return req.Context
}

// Request is what an agent is told, stored before it first runs so that a turn
// that is run again is run with the same words.
type Request struct {
	Prompt  string          `json:"prompt"`
	Context prompts.Context `json:"context"`

	RunStartComment int64 `json:"run_start_comment_id"` // the newest comment on the issue that it tells of
}
