//go:build unix

package bench

import (
	"fmt"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// newLostWorld is a machine whose state is gone, with open pull requests of ours on GitHub:
// each has its issue, and people's comments that were answered.
func newLostWorld(t *testing.T, p program, s shape) *world {
	t.Helper()
	w := newEmptyWorld(t, p, s)
	w.past.Store(true)
	defer w.past.Store(false)
	must(t, w.repo.SeedIssues(reviewer, "Please.", s.pulls, append([]string{label}, s.labels...)...))
	ours := func(i int) (branch, body string) {
		issue := i + 1 // the repository was empty
		return work.BranchName(work.FlowSmallJob, issue, fmt.Sprintf("Issue %d", issue), 0),
			fmt.Sprintf("Did it.\n\nFixes #%d.\n\n%s", issue, work.MarkPull(work.PullMark{Issue: issue, Flow: work.FlowSmallJob, Turn: fmt.Sprintf("%016x", issue)}))
	}
	_, err := w.repo.SeedPulls(githubsim.Bulk{Pulls: s.pulls, Comments: s.comments, Author: operator, Reviewer: reviewer, Each: ours})
	must(t, err)
	return w
}
