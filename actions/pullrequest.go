package actions

import (
	"context"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// pulls is what pullRequest needs from GitHub.
type pulls interface {
	PullsByHead(ctx context.Context, repo work.RepoName, branch string) ([]github.Pull, error)
	CreatePull(ctx context.Context, repo work.RepoName, p github.NewPull) (github.Pull, error)
}

// pullRequest opens a pull request. Its branch prevents a duplicate: GitHub allows at most one open
// pull request for a branch and a base.
type pullRequest struct{}

// find asks nothing about one that was never sent: its branch had no pull request when the turn chose it, and
// do looks if GitHub has one after all.
func (pullRequest) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	if a.Sends == 0 {
		return observation{}, false, nil
	}
	all, err := s.GitHub.PullsByHead(ctx, s.Repo.Current, a.Head)
	if err != nil {
		return observation{}, false, err
	}
	for _, p := range all {
		if !p.CrossRepo && madeByUs(s, a, p) {
			return observation{id: strconv.Itoa(p.Number), url: p.URL}, true, nil
		}
	}
	for _, p := range all {
		if !p.CrossRepo && p.State == work.PullOpen {
			return observation{}, false, &work.BlockedError{
				Reason: work.Reason{Kind: work.WhyPullInTheWay, Number: p.Number, Branch: a.Head},
			}
		}
	}
	return observation{}, false, nil
}

// madeByUs accepts a pull request that our account opened with the action's token. People may have
// edited its body since, so the origin mark further up in the body is accepted instead of the
// token.
func madeByUs(s Scope, a work.Action, p github.Pull) bool {
	if p.Author.ID == 0 || !slices.Contains(s.Accounts, p.Author.ID) {
		return false
	}
	if isOurs(s, a, p.Body, p.Author) {
		return true
	}
	want, ok := work.ParsePullMark(a.Body)
	got, marked := work.ParsePullMark(p.Body)
	return ok && marked && got == want
}

func (e pullRequest) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	asked := github.NewPull{Title: a.Title, Body: a.Body, Head: a.Head, Base: a.Base, Draft: a.Extra == work.AsDraft}
	p, err := s.GitHub.CreatePull(ctx, s.Repo.Current, asked)
	if asked.Draft && github.NoDrafts(err) {
		asked.Draft = false
		p, err = s.GitHub.CreatePull(ctx, s.Repo.Current, asked)
	}
	if github.IsStatus(err, 422) {
		if seen, ok, findErr := e.find(ctx, s, a); findErr != nil || ok {
			return seen, findErr
		}
	}
	if github.AlreadyExists(err) { // it exists, but is not listed yet
		return observation{}, &transport.UnclearError{Err: err}
	}
	if err != nil {
		return observation{}, err
	}
	if s.Opened != nil {
		s.Opened(p)
	}
	return observation{id: strconv.Itoa(p.Number), url: p.URL}, nil
}
