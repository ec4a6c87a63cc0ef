package actions

import (
	"context"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// runs is what rerun needs from GitHub.
type runs interface {
	WorkflowRun(ctx context.Context, repo work.RepoName, id string) (github.WorkflowRun, error)
	RerunFailedJobs(ctx context.Context, repo work.RepoName, id string) error
}

// rerun reruns the failed jobs of a workflow run. GitHub counts the attempts: a higher attempt than
// at the time of the plan means that it was rerun, by anybody.
type rerun struct{}

func (rerun) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	planned, err := strconv.Atoi(a.Base)
	if err != nil {
		return observation{}, false, fmt.Errorf("read the attempt of a rerun: %w", err)
	}
	run, err := s.GitHub.WorkflowRun(ctx, s.Repo.Current, a.Target)
	if isNotFound(err) {
		return observation{}, false, nil // sending it fails with the same error
	}
	return observation{id: a.Target, url: run.URL}, run.Attempt > planned, err
}

func (rerun) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{id: a.Target}, s.GitHub.RerunFailedJobs(ctx, s.Repo.Current, a.Target)
}
