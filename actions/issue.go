package actions

import (
	"context"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// issues is what issue needs from GitHub.
type issues interface {
	Pull(ctx context.Context, repo work.RepoName, number int) (github.Pull, bool, error)
	IssuesSince(ctx context.Context, repo work.RepoName, since time.Time) ([]github.Issue, error)
	CreateIssue(ctx context.Context, repo work.RepoName, title, body string) (github.Issue, error)
}

// issue opens an issue for a flaky test that a pull request's checks showed.
type issue struct{}

// find lists only issues that are not older than the pull request, because an issue about it cannot
// be. The first of several copies counts. Only an administrator can delete an issue, so people
// close the others.
func (issue) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	since := lookSince(a)
	if since.IsZero() {
		pull, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
		if err != nil {
			return observation{}, false, err
		}
		if ok {
			since = pull.CreatedAt
		}
	}
	all, err := s.GitHub.IssuesSince(ctx, s.Repo.Current, since)
	if err != nil {
		return observation{}, false, err
	}
	var first github.Issue
	for _, i := range all {
		if isOurs(s, a, i.Body, i.Author) && (first.Number == 0 || i.Number < first.Number) {
			first = i
		}
	}
	return observation{id: strconv.Itoa(first.Number), url: first.URL}, first.Number != 0, nil
}

func (issue) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	i, err := s.GitHub.CreateIssue(ctx, s.Repo.Current, a.Title, a.Body)
	if err != nil {
		return observation{}, err
	}
	return observation{id: strconv.Itoa(i.Number), url: i.URL}, nil
}
