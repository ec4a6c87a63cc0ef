package github

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// nodesOf sorts an answer to nodes(ids:): which nodes there are, by their place,
// and which ids name nothing. A token that may not see checks or statuses is
// refused these alone, which then are empty. Any other error spoils the batch:
// the caller asks in smaller ones.
func nodesOf(g *transport.GraphAnswer, nodes []json.RawMessage, ids []string) (present map[int]json.RawMessage, missing []string, err error) {
	gone := map[int]bool{}
	for _, e := range g.Errors {
		place, isNode := nodeOf(e)
		switch {
		case e.Type == transport.TypeForbidden && (slices.Contains(e.Path, any("statusCheckRollup")) || slices.Contains(e.Path, any("status"))):
		case e.Type == transport.TypeNotFound && isNode:
			gone[place] = true
		default:
			return nil, nil, e.Refusal(g.URL)
		}
	}
	if len(nodes) != len(ids) {
		return nil, nil, &BodyError{URL: g.URL, Err: fmt.Errorf("%d nodes for %d ids", len(nodes), len(ids))}
	}
	present = map[int]json.RawMessage{}
	for i, raw := range nodes {
		var head struct {
			Kind string `json:"__typename"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, nil, &BodyError{URL: g.URL, Err: err}
		}
		switch {
		case gone[i], head.Kind != "" && head.Kind != "PullRequest":
			missing = append(missing, ids[i])
		case head.Kind == "":
			return nil, nil, &BodyError{URL: g.URL, Err: fmt.Errorf("nothing about %s", ids[i])}
		default:
			present[i] = raw
		}
	}
	return present, missing, nil
}

// nodeOf is the place in nodes(ids:) when the error is about a node as such.
func nodeOf(e transport.GraphError) (int, bool) {
	if len(e.Path) != 2 || e.Path[0] != any("nodes") {
		return 0, false
	}
	n, ok := e.Path[1].(float64)
	return int(n), ok
}
