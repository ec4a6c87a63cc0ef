package actions

import (
	"context"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// statuses is what status needs from GitHub.
type statuses interface {
	SetStatus(ctx context.Context, repo work.RepoName, sha string, set github.Status) error
	Statuses(ctx context.Context, repo work.RepoName, sha string) ([]github.Status, error)
}

// status sets a commit status with the result of its reviews, which a ruleset may require. Head is
// the commit, Target the state, Body the description, Base the link. The newest status of a context
// counts, so setting it twice has the effect of once.
type status struct{}

func (status) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.Statuses(ctx, s.Repo.Current, a.Head)
	if err != nil {
		return observation{}, false, err
	}
	for _, now := range all {
		if strings.EqualFold(now.Context, review.StatusContext) {
			return observation{url: now.URL}, now.State == a.Target && now.Description == a.Body, nil
		}
	}
	return observation{}, false, nil
}

func (status) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{url: a.Base}, s.GitHub.SetStatus(ctx, s.Repo.Current, a.Head, github.Status{
		State: a.Target, Context: review.StatusContext, Description: a.Body, URL: a.Base,
	})
}
