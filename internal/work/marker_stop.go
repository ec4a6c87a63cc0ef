package work

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var stopMarker = lazy.Regexp(`^<!-- mergexo-stop:([A-Za-z0-9_-]+) -->$`)

// maxMarked bounds a reason's texts in a marker, in bytes, and each text where they are
// more: most of a comment is for what people read.
const maxMarked = 6000

// stopMark is a stop as the comment about it carries it, for a pass whose database is
// gone: what the comment says to people is never read back.
type stopMark struct {
	Number   int    `json:"number"` // of the conversation: a paste elsewhere says nothing there
	Reason   Reason `json:"reason"`
	Attempts int    `json:"attempts"`
	Since    int64  `json:"since"` // unix milliseconds
}

// MarkStop is what the comment about a stop carries.
func MarkStop(s Stop, spending bool) string {
	b, err := json.Marshal(stopMark{s.Number, Marked(s.Reason, spending), s.Attempts, s.Since.UnixMilli()})
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Marked is what a marker has of a reason: what is this machine's business is not in it,
// nor, unless it may be told, what was spent; and of a long one the beginning.
func Marked(r Reason, spending bool) Reason {
	r.Local = ""
	if !spending && IsSpending(r.Name) {
		r.Used, r.Limit = 0, 0
	}
	if len(r.Identity()+r.Advice) > maxMarked {
		r.Names = nil
		r = r.Map(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxMarked/4)], "") })
	}
	return r
}

// ParseStop reads what MarkStop made for a conversation. False for anything else.
func ParseStop(mark string, number int) (Stop, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // what is not base64 is no JSON
	var m stopMark
	if err := json.Unmarshal(b, &m); err != nil || m.Number != number || m.Reason.None() || m.Attempts <= 0 || m.Since <= 0 {
		return Stop{}, false
	}
	return Stop{Number: number, Reason: m.Reason, Attempts: m.Attempts, Since: time.UnixMilli(m.Since).UTC()}, true
}
