package sweep

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// missingNodes are the ids that name nothing, by an answer to nodes(ids:). A token that
// may not see checks or statuses is refused these alone, which then are empty. Any other
// error spoils the batch: the caller asks in smaller ones.
func missingNodes[N any](g transport.GraphErrors, nodes []N, kind func(N) string, ids []string) (missing []string, err error) {
	gone := map[int]bool{}
	for _, e := range g.Errors {
		place, isNode := nodeOf(e)
		switch {
		case e.Type == transport.TypeForbidden && (slices.Contains(e.Path, any("statusCheckRollup")) || slices.Contains(e.Path, any("status"))):
		case e.Type == transport.TypeNotFound && isNode:
			gone[place] = true
		default:
			return nil, e.Refusal(g.URL)
		}
	}
	if len(nodes) != len(ids) {
		return nil, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("%d nodes for %d ids", len(nodes), len(ids))}
	}
	for i, node := range nodes {
		switch kind := kind(node); {
		case gone[i], kind != "" && kind != "PullRequest":
			missing = append(missing, ids[i])
		case kind == "":
			return nil, &transport.BodyError{URL: g.URL, Err: fmt.Errorf("nothing about %s", ids[i])}
		}
	}
	return missing, nil
}

// nodeOf is the place in nodes(ids:) when the error is about a node as such.
func nodeOf(e transport.GraphError) (int, bool) {
	if len(e.Path) != 2 || e.Path[0] != any("nodes") {
		return 0, false
	}
	n, ok := e.Path[1].(float64)
	return int(n), ok
}
