package actions

import (
	"context"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// closer is what closing needs from GitHub.
type closer interface {
	Pull(ctx context.Context, repo work.RepoName, number int) (github.Pull, bool, error)
	ClosePull(ctx context.Context, repo work.RepoName, number int) (github.Pull, error)
}

// closing closes a pull request of ours. A pull request that anybody closed counts too. Its branch
// is kept.
type closing struct{}

func (closing) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	return observation{id: strconv.Itoa(a.Number), url: p.URL}, !ok || p.State != work.PullOpen, nil
}

func (closing) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	p, err := s.GitHub.ClosePull(ctx, s.Repo.Current, a.Number)
	return observation{id: strconv.Itoa(a.Number), url: p.URL}, err
}
