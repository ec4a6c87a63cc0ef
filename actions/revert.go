package actions

import (
	"context"
	"errors"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// reverter is what revert needs from git.
type reverter interface {
	// RevertCommit creates a commit that reverts a landed commit. It is not clean if later changes
	// conflict. It returns no commit if nothing is left to revert.
	RevertCommit(ctx context.Context, r git.Revert) (oid string, clean bool, err error)
}

// revert opens a pull request that reverts our merge, for people to review. Target is its branch,
// Head the landed commit, Base the base branch, ExtraCopies the parent of the landed commit. The
// branch is created first; an existing branch is not created again.
type revert struct{}

func (revert) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	return pullRequest{}.find(ctx, s, asPull(a))
}

// asPull returns the pull request action of a revert.
func asPull(a work.Action) work.Action {
	a.Head = a.Target
	return a
}

func (revert) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	heads, err := s.Branches.RemoteHeads(ctx, a.Target)
	if err != nil {
		return observation{}, err
	}
	if heads[a.Target] == "" {
		if err := pushRevert(ctx, s, a); err != nil {
			return observation{}, err
		}
	}
	return pullRequest{}.do(ctx, s, asPull(a))
}

func pushRevert(ctx context.Context, s Scope, a work.Action) error {
	if err := s.Branches.Fetch(ctx, a.Head); err != nil {
		return err
	}
	tip, ok, err := s.Branches.Head(ctx, a.Base)
	switch {
	case err != nil:
		return err
	case !ok:
		return &overError{why: "the branch " + a.Base + " is gone", how: work.EndedGone}
	}
	oid, clean, err := s.Branches.RevertCommit(ctx, git.Revert{Tip: tip, Landed: a.Head, Parent: a.Extra, Message: a.Title, Date: a.PlannedAt.Truncate(time.Second)})
	switch {
	case err != nil:
		return err
	case !clean:
		return &overError{why: "later commits stand in the way of taking it back"}
	case oid == "":
		return &overError{why: "it was taken back already"}
	}
	err = s.Branches.Push(ctx, a.Target, oid, "")
	if _, there := errors.AsType[*git.LeaseError](err); there {
		return nil // an earlier push did arrive
	}
	return err
}
