package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checks are the reads about red checks.
type checks interface {
	CheckRun(ctx context.Context, repo work.RepoName, id string) (github.CheckRun, error)
	Annotations(ctx context.Context, repo work.RepoName, id string) ([]github.Annotation, error)
	JobLog(ctx context.Context, repo work.RepoName, job string) (string, error)
	WorkflowRuns(ctx context.Context, repo work.RepoName, commit string) ([]github.WorkflowRun, error)
}

// Rerunnable returns the red workflow runs that may be run again: those in their first attempt. A
// run that is red after a second attempt is for people. There are none once the turn has a commit.
func (l *Lease) Rerunnable() []github.WorkflowRun {
	if l.Turn.Commit != "" || l.Committed() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Runs), func(r github.WorkflowRun) bool { return r.Attempt > 1 })
}
