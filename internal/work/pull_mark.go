package work

import (
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var workMarker = lazy.Regexp(`(?m)^<!-- mergexo-work:(\{.*\}) -->$`)

// PullMark is the origin of a pull request of ours, in its body.
type PullMark struct {
	Issue int    `json:"issue"`
	Flow  Flow   `json:"flow"`
	Turn  string `json:"turn"`
}

// MarkPull formats a pull request's origin as a line of its body.
func MarkPull(m PullMark) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // three plain fields
	}
	return "<!-- mergexo-work:" + string(b) + " -->"
}

// ParsePullMark finds the origin in a pull request's body.
func ParsePullMark(body string) (PullMark, bool) {
	found := workMarker().FindStringSubmatch(Normalise(body))
	if found == nil {
		return PullMark{}, false
	}
	var m PullMark
	if err := json.Unmarshal([]byte(found[1]), &m); err != nil || m.Issue <= 0 || m.Flow == "" {
		return PullMark{}, false
	}
	return m, true
}
