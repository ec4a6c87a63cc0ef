package actions

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// pullLists is what deleteBranch needs from GitHub.
type pullLists interface {
	OpenPulls(ctx context.Context, repo work.RepoName) ([]github.Pull, error)
}

// branchDeleter is what deleteBranch needs from git.
type branchDeleter interface {
	// DeleteBranch deletes a branch of the remote if it is at the expected commit.
	DeleteBranch(ctx context.Context, branch, expected string, keep ...string) error
}

// deleteBranch deletes the branch of a merged pull request, unless it moved since or other pull
// requests need it. Target is the branch, Head its expected commit.
type deleteBranch struct{}

func (deleteBranch) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	heads, err := s.Branches.RemoteHeads(ctx, a.Target)
	if err != nil {
		return observation{}, false, err
	}
	switch head, there := heads[a.Target]; {
	case !there:
		return observation{id: a.Target}, true, nil
	case head != a.Head:
		return observation{}, false, &overError{why: "it moved to " + work.Short(head) + " and stays"}
	}
	open, err := s.GitHub.OpenPulls(ctx, s.Repo.Current)
	if err != nil {
		return observation{}, false, err
	}
	for _, p := range open {
		if p.Base == a.Target || p.Head == a.Target && !p.CrossRepo {
			return observation{}, false, &overError{why: fmt.Sprintf("pull request #%d needs it, and it stays", p.Number)}
		}
	}
	return observation{}, false, nil
}

func (deleteBranch) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	err := s.Branches.DeleteBranch(ctx, a.Target, a.Head, a.Base)
	if moved, ok := errors.AsType[*git.LeaseError](err); ok {
		return observation{}, &overError{why: "it moved and stays: " + moved.Detail}
	}
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		return observation{}, &overError{why: "it may not be deleted: " + refused.Reason}
	}
	if kept, ok := errors.AsType[*git.KeptError](err); ok {
		return observation{}, &overError{why: kept.Error()}
	}
	return observation{id: a.Target}, err
}
