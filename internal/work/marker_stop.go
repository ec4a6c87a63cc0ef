package work

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var stopMarker = lazy.Regexp(`^<!-- mergexo-stop:([A-Za-z0-9_-]+) -->$`)

// maxMarked limits a reason's texts in a marker, in bytes, and each text if there are several: most
// of a comment is for people.
const maxMarked = 6000

// stopMark is a stop as its comment's marker stores it, for a pass whose database was lost. The
// visible text is never parsed.
type stopMark struct {
	Number   int    `json:"number"` // of the conversation: a paste elsewhere says nothing there
	Reason   Reason `json:"reason"`
	Attempts int    `json:"attempts"`
	Since    int64  `json:"since"` // unix milliseconds
}

// MarkStop returns the marker of the comment about a stop.
func MarkStop(s Stop, spending bool) string {
	b, err := json.Marshal(stopMark{s.Number, Marked(s.Reason, spending), s.Attempts, s.Since.UnixMilli()})
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Marked returns the part of a reason that a marker may contain: without details of this machine,
// without what was spent unless spending is true, and shortened if it is long.
func Marked(r Reason, spending bool) Reason {
	r.Local = ""
	if !spending && isSpending(r.Name) {
		r.Used, r.Limit = 0, 0
	}
	if len(r.identity()+r.Advice) > maxMarked {
		r.Names = nil
		r = r.Map(func(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxMarked/4)], "") })
	}
	return r
}

// ParseStop reads a marker made by MarkStop for this conversation. It returns false for any other.
func ParseStop(mark string, number int) (Stop, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // invalid base64 gives no valid JSON
	var m stopMark
	if err := json.Unmarshal(b, &m); err != nil || m.Number != number || m.Reason.None() || m.Attempts <= 0 || m.Since <= 0 {
		return Stop{}, false
	}
	return Stop{Number: number, Reason: m.Reason, Attempts: m.Attempts, Since: time.UnixMilli(m.Since).UTC()}, true
}
