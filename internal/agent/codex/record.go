package codex

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
)

// maxRecord is how much of the end of a thread's record is read, in bytes.
const maxRecord = 1 << 20

// record is how a turn failed, from codex's record of the thread: its output has no field for it.
type record struct {
	kind   string    // codex_error_info, or its key
	status int       // HTTP status; 0 if there was no answer
	resets time.Time // when the limit ends; zero if unknown

	depleted bool // out of credit: waiting does not help
}

// unreachable reports that the provider did not answer, or stopped in the middle of an answer.
func (r record) unreachable() bool {
	switch r.kind {
	case "http_connection_failed", "response_stream_connection_failed", "response_stream_disconnected", "response_too_many_failed_attempts":
		return r.status == 0
	}
	return false
}

// unnamed are the kinds of codex's own failures; every other kind is what a provider called its own.
var unnamed = []string{"", "other", "sandbox_error", "thread_rollback_failed", "active_turn_not_steerable"}

// named reports that the kind is the provider's reason.
func (r record) named() bool { return !slices.Contains(unnamed, r.kind) }

// recordLine is the part of a record line that we read.
type recordLine struct {
	Payload struct {
		Type  string `json:"type"`
		Error struct {
			Info json.RawMessage `json:"codex_error_info"`
		} `json:"error"`
		CompletedAt int64 `json:"completed_at"`
		Limits      struct {
			Primary   *recordWindow `json:"primary"`
			Secondary *recordWindow `json:"secondary"`
			Reached   string        `json:"rate_limit_reached_type"`
		} `json:"rate_limits"`
	} `json:"payload"`
}

type recordWindow struct {
	Used   float64 `json:"used_percent"`
	Resets int64   `json:"resets_at"`
}

// record reads how the thread's last turn failed. It ignores a turn that ended before began.
func (c *codex) record(thread string, began int64) record {
	var rec record
	tail := c.recordTail(thread)
	agent.EachLine(tail, func(l recordLine) {
		switch l.Payload.Type {
		case "token_count":
			rec.resets = laterReset(l.Payload.Limits.Primary, l.Payload.Limits.Secondary)
			rec.depleted = strings.Contains(l.Payload.Limits.Reached, "credits_depleted")
		case "task_complete":
			if l.Payload.CompletedAt >= began {
				rec.kind, rec.status = errorInfo(l.Payload.Error.Info)
			}
		}
	})
	return rec
}

// laterReset returns when the last of the exhausted windows resets.
func laterReset(windows ...*recordWindow) (at time.Time) {
	for _, w := range windows {
		if w == nil || w.Used < 100 || w.Resets == 0 {
			continue
		}
		if t := time.Unix(w.Resets, 0); t.After(at) {
			at = t
		}
	}
	return at
}

// errorInfo reads "kind" or {"kind":{"http_status_code":429}}.
func errorInfo(raw json.RawMessage) (kind string, status int) {
	if json.Unmarshal(raw, &kind) == nil {
		return kind, 0
	}
	var keyed map[string]struct {
		Status int `json:"http_status_code"`
	}
	if json.Unmarshal(raw, &keyed) == nil {
		for kind, v := range keyed {
			return kind, v.Status
		}
	}
	return "", 0
}

// recordTail reads the end of a thread's record. If it cannot be read, the result is empty and the
// turn is retried.
func (c *codex) recordTail(thread string) []byte {
	f, info, err := files.OpenRegular(c.spec.SessionFile(thread))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if info.Size() > maxRecord {
		if _, err := f.Seek(-maxRecord, io.SeekEnd); err != nil {
			return nil
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return nil
	}
	return b
}
