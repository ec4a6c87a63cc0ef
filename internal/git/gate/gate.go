// Package gate judges what an agent left in a checkout: what may become a commit and
// what is refused, before git looks at it, before it is added, and as the tree that
// would be committed. What is refused never reaches the mirror.
package gate

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// Limits are the gates before a commit; a zero value is no limit.
type Limits struct {
	MaxFiles     int
	MaxFileBytes int64
	Protected    []string // globs of paths that must not change: "**/CODEOWNERS"
	NotOnly      []string // globs of paths to which a change must not keep
	// Secrets finds what must not be pushed: each secret of a text, and what it
	// is. Whole files are shown to it, names and targets of links; only what a
	// change adds is refused.
	Secrets func(text string) map[string]string
}

// Gate is what a change must pass on its way from a checkout into a commit.
type Gate struct {
	Mirror  *mirror.Mirror // required
	Dir     string         // the checkout; empty where there is none
	Index   string         // its index, as it was restored
	Parents []string       // of the commit
	From    string         // the tree that the checkout began as, when it is not the first parent's; may be ""
	Limits  Limits
}

// RefusedError says that a tree must not be committed, naming the paths. The
// agent may be asked to mend it.
type RefusedError struct {
	Reason    string
	Protected bool // a path that the config protects is among them
}

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// refusals collects reasons, so that one answer names them all.
type refusals struct {
	reasons   []string
	protected bool // a path that the config protects is among them
}

// maxRefusals keeps the answer readable.
const maxRefusals = 20

func (r *refusals) add(format string, args ...any) {
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

func (r refusals) err() error {
	if len(r.reasons) == 0 {
		return nil
	}
	more := len(r.reasons) - maxRefusals
	reason := strings.Join(r.reasons[:min(len(r.reasons), maxRefusals)], "; ")
	if more > 0 {
		reason += fmt.Sprintf("; and %d more", more)
	}
	return &RefusedError{Reason: reason, Protected: r.protected}
}
