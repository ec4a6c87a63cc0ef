package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checks is what is read of red checks.
type checks interface {
	CheckRun(ctx context.Context, repo work.RepoName, id string) (github.CheckRun, error)
	Annotations(ctx context.Context, repo work.RepoName, id string) ([]github.Annotation, error)
	JobLog(ctx context.Context, repo work.RepoName, job string) (string, error)
	WorkflowRuns(ctx context.Context, repo work.RepoName, commit string) ([]github.WorkflowRun, error)
}

// Rerunnable are the red workflow runs that may run once more. Whoever had one
// run again has seen it red twice: that is for people.
func (l *Lease) Rerunnable() []github.WorkflowRun {
	if l.Turn.Commit != "" || l.Committed() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Runs), func(r github.WorkflowRun) bool { return r.Attempt > 1 })
}
