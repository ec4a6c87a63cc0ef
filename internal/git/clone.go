package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// cloneDepth is how many commits from each branch's head the first step of a clone fetches; each further step
// fetches cloneGrowth times as many.
const (
	cloneDepth  = 200
	cloneGrowth = 4
)

// clone fetches a repository for the first time, in steps of its history: git keeps nothing of a fetch that is cut
// off, so each step is a fetch of its own. A clone that was cut off begins with a small step where it ended, so that it
// advances even if each attempt is short. Until it is complete the mirror is partial.
func (m *Mirror) clone(ctx context.Context, branches []string) error {
	progress := &progressFile{path: m.path(work.CloneProgress)}
	defer func() { _ = os.Remove(progress.path) }() // shown to people only
	for depth := cloneDepth; ; depth *= cloneGrowth {
		how, ends := "--depth", m.ends()
		if ends != "" {
			how = "--deepen"
		}
		err := m.fetchHeads(ctx, branches, progress, fmt.Sprintf("%s=%d", how, depth))
		if failed := (*CommandError)(nil); errors.As(err, &failed) && ends == "" {
			return m.fetchHeads(ctx, branches, progress) // an empty repository, or a server that knows no steps
		}
		if err != nil || !m.partial() {
			return err
		}
		if m.ends() == ends {
			return errEndsStay
		}
		m.Close() // the reader knows the old ends of the history
	}
}

// errEndsStay is for a step of a clone that moves no end of the history. In a mirror of several steps
// an end may also belong to commits that no branch has any more, because a history was replaced since:
// git keeps such an end for ever.
var errEndsStay = errors.New("clone: the remote is a shallow clone itself: name one with the whole history")

// isNew reports whether the mirror has no branch yet, or not all of their history.
func (m *Mirror) isNew() bool {
	return m.partial() || m.borrowed == "" && !files.Exists(m.path("packed-refs")) && !files.Exists(m.path("refs", "remotes"))
}

// partial reports whether the history is not complete: git's list of its ends is there. A submodule's mirror has
// single commits.
func (m *Mirror) partial() bool { return m.parent == nil && files.Exists(m.path("shallow")) }

// ends returns the commits at which the history ends; empty: it is complete, or there is none.
func (m *Mirror) ends() string {
	list, _ := os.ReadFile(m.path("shallow"))
	return string(list)
}

// progressFile is work.CloneProgress, replaced when git's progress has another percentage.
type progressFile struct {
	path string
	mu   sync.Mutex
	said string
}

// Write takes some of git's standard error. A line that is cut in two says nothing.
func (p *progressFile) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := percentage().FindAllSubmatch(b, -1)
	if len(found) == 0 {
		return len(b), nil
	}
	last := found[len(found)-1]
	said := fmt.Sprintf("%s %% (%s)", last[2], strings.ToLower(string(last[1])))
	if said != p.said {
		p.said = said
		_ = os.WriteFile(p.path, []byte(said), 0o600) // shown to people only
	}
	return len(b), nil
}

var percentage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\r\n])(?:remote: )?([A-Z][a-z]+ objects|Resolving deltas): +(\d+)%`)
})
