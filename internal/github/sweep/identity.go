package sweep

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Identity is which repository a name stands for today. One that was renamed is
// found by its former names until another one takes them.
type Identity struct {
	NodeID string // empty: GitHub did not say
	Gone   bool   // it has none of that name, or none that we may see
}

type wireIdentity struct {
	ID string `json:"id"`
}

// repositoryGone reports whether an answer says that a name stands for no repository,
// and takes that out of the errors: it is what was asked.
func repositoryGone(g *transport.GraphErrors) bool {
	before := len(g.Errors)
	g.Errors = slices.DeleteFunc(g.Errors, func(e transport.GraphError) bool {
		return e.Type == transport.TypeNotFound && len(e.Path) == 1 && e.Path[0] == any("repository")
	})
	return len(g.Errors) < before
}
