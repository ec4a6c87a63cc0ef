package actions

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// updateBranch has GitHub merge the base into a pull request's branch. Head is its current head,
// Base the base branch. The result is the new head. If nothing of the base was missing, the result
// is the base's tip, and is valid while the base stays there.
type updateBranch struct{}

func (updateBranch) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	p, ok, err := s.GitHub.Pull(ctx, s.Repo.Current, a.Number)
	switch {
	case err != nil:
		return observation{}, false, err
	case !ok:
		return observation{}, false, &overError{why: "the pull request is gone", how: work.EndedGone}
	case p.State != work.PullOpen:
		return observation{}, false, &overError{why: "the pull request was " + string(p.State)}
	case p.HeadOID != a.Head && a.Sends == 0:
		return observation{}, false, &overError{why: "the head moved to " + work.Short(p.HeadOID)}
	case p.HeadOID != a.Head:
		return observation{id: p.HeadOID, url: p.URL}, true, nil // updated by us, or by somebody who was faster
	}
	if err := s.Branches.Fetch(ctx, a.Base, a.Head); err != nil {
		return observation{}, false, err
	}
	tip, ok, err := s.Branches.Head(ctx, a.Base)
	if err != nil || !ok {
		return observation{}, false, err
	}
	upToDate, err := s.Branches.IsAncestor(ctx, tip, a.Head)
	return observation{id: tip, url: p.URL}, upToDate, err
}

func (e updateBranch) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	err := s.GitHub.UpdateBranch(ctx, s.Repo.Current, a.Number, a.Head)
	refusal, refused := github.RefusalOf(err)
	switch {
	case err != nil && !refused:
		return observation{}, err
	case refusal.Kind == github.HeadMoved:
		return observation{}, &overError{why: "the head moved: " + refusal.Text}
	case refusal.Kind == github.NothingNew:
		tip, _, err := s.Branches.Head(ctx, a.Base) // find has fetched it
		return observation{id: tip}, err
	case refused:
		return observation{}, &RefusedError{Refusal: refusal, Err: err}
	}
	seen, ok, err := e.find(ctx, s, a)
	if err == nil && !ok {
		err = &transport.UnclearError{Err: errors.New("GitHub updates the branch after its answer")}
	}
	return seen, err
}
