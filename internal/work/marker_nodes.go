package work

import (
	"encoding/base64"
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var nodesMarker = lazy.Regexp(`^<!-- mergexo-nodes:([A-Za-z0-9_-]+) -->$`)

// NodesMark is what a roadmap has made, as the marker of its table stores it: a pass whose database was lost
// makes nothing again that people deleted or removed.
type NodesMark struct {
	Roadmap int            `json:"roadmap"` // number of the roadmap's issue: a paste elsewhere says nothing there
	Run     int            `json:"run"`     // number of the pull request that began the roadmap
	Made    string         `json:"made"`    // hash of the document of which everything is made; empty: a part of it is missing
	Nodes   map[string]int `json:"nodes"`   // numbers of sub-issues
}

// MarkNodes returns the marker of the comment with the table of a roadmap.
func MarkNodes(m NodesMark) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // plain fields
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseNodes reads a marker made by MarkNodes for the roadmap of an issue that a pull request began. It
// returns false for any other.
func ParseNodes(mark string, roadmap, run int) (NodesMark, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // invalid base64 gives no valid JSON
	var m NodesMark
	if err := json.Unmarshal(b, &m); err != nil || m.Roadmap != roadmap || m.Run != run || m.Nodes == nil {
		return NodesMark{}, false
	}
	return m, true
}

// Node returns the node whose sub-issue has the number; empty: none has it.
func (m NodesMark) Node(number int) string {
	for id, n := range m.Nodes {
		if n == number {
			return id
		}
	}
	return ""
}
