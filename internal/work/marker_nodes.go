package work

import (
	"encoding/base64"
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

var nodesMarker = lazy.Regexp(`^<!-- mergexo-nodes:([A-Za-z0-9_-]+) -->$`)

// nodesMark is which sub-issue was made for which node of a roadmap, as the marker of its table stores
// it: a pass whose database was lost makes none again that people deleted.
type nodesMark struct {
	Number int            `json:"number"` // of the roadmap's issue: a paste elsewhere says nothing there
	Nodes  map[string]int `json:"nodes"`  // numbers of sub-issues
}

// MarkNodes returns the marker of the comment with the table of a roadmap.
func MarkNodes(number int, nodes map[string]int) string {
	b, err := json.Marshal(nodesMark{number, nodes})
	if err != nil {
		panic(err) // names and numbers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseNodes reads a marker made by MarkNodes for this roadmap. It returns false for any other.
func ParseNodes(mark string, number int) (map[string]int, bool) {
	b, _ := base64.RawURLEncoding.DecodeString(mark) // invalid base64 gives no valid JSON
	var m nodesMark
	if err := json.Unmarshal(b, &m); err != nil || m.Number != number || m.Nodes == nil {
		return nil, false
	}
	return m.Nodes, true
}
