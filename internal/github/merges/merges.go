// Package merges has the requests about merging pull requests: what GitHub's merge box
// shows, what a branch demands, the merge itself, the merge queue. It alone reads the
// sentences by which GitHub refuses a merge: there is no code for why.
package merges

import (
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Merges are the requests about merging.
type Merges struct{ api *transport.Client }

// New makes the requests over a client.
func New(api *transport.Client) Merges { return Merges{api} }

// errNoHead refuses to send what would be about whatever head there is by then.
var errNoHead = errors.New("no head is named: only the commit that was judged is merged")
