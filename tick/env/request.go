package env

import (
	"encoding/json"

	"github.com/mergexo/gh-mergexo/prompts"
)

// PromptBase returns the base commit that a stored prompt names; empty: it is about no conflict.
func PromptBase(stored []byte) string {
	var req Request
	if json.Unmarshal(stored, &req) != nil || req.Context.Conflict == nil {
		return ""
	}
	return req.Context.Conflict.BaseSHA
}

// StoredContext returns the stored context of the turn's agent; zero before it is stored.
func (l *Lease) StoredContext() prompts.Context {
	var req Request
	if json.Unmarshal(l.Turn.Request, &req) != nil {
		return prompts.Context{}
	}
	return req.Context
}

// Request is the input of an agent. It is stored before the first run, so that a repeated run gets
// the same prompt.
type Request struct {
	Prompt  string          `json:"prompt"`
	Context prompts.Context `json:"context"`

	RunStartComment int64 `json:"run_start_comment_id"` // the newest comment on the issue that it tells of
}
