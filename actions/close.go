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

// closing closes a pull request of ours. A pull request that anybody closed counts too, one that was merged does not: then
// the answer must not say that it is closed. Its branch is kept.
type closing struct{}

func (closing) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	seen, err := closed(a, p)
	if err != nil || !ok || p.State != work.PullOpen || a.SentAt.IsZero() {
		return seen, !ok || p.State != work.PullOpen, err
	}
	done, err := happened(ctx, s, a, "closed", "") // then a person has opened it again since
	return seen, done, err
}

func (closing) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	p, err := s.GitHub.ClosePull(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, err
	}
	return closed(a, p)
}

// closed is what GitHub shows of a pull request to close.
func closed(a work.Action, p github.Pull) (observation, error) {
	if p.State == work.PullMerged {
		return observation{}, &overError{why: "the pull request was merged", how: work.EndedMerged}
	}
	return observation{id: strconv.Itoa(a.Number), url: p.URL}, nil
}
