package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Branches is what actions ask of git.
type Branches interface {
	// RemoteHeads lists the branches under a prefix as they are on the remote
	// now: branch to commit.
	RemoteHeads(ctx context.Context, prefix string) (map[string]string, error)
	// Fetch brings the remote's branches into the mirror.
	Fetch(ctx context.Context, want ...string) error
	// Carries reports whether the commit, or one with the turn's trailer, is
	// reachable from head.
	Carries(ctx context.Context, head, turnKey, oid string) (bool, error)
	// Push moves a branch from the expected commit to another, with a lease;
	// expected "" makes a new branch.
	Push(ctx context.Context, branch, oid, expected string) error
	landings
	branchDeleter
	reverter
}

// push moves a branch to the turn's commit. Target is the branch, Base the
// head that it must have (the lease), Head the commit, Title the turn's key.
type push struct{}

func (push) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	heads, err := s.Branches.RemoteHeads(ctx, a.Target)
	if err != nil {
		return observation{}, false, err
	}
	head, ok := heads[a.Target]
	switch {
	case !ok:
		return observation{}, false, nil
	case head == a.Head:
		return observation{id: head}, true, nil
	case head == a.Base:
		return observation{}, false, nil
	}
	// Somebody pushed on top, or elsewhere: only the history tells.
	if err := s.Branches.Fetch(ctx, head); err != nil {
		return observation{}, false, err
	}
	carried, err := s.Branches.Carries(ctx, head, a.Title, a.Head)
	return observation{id: a.Head}, carried, err
}

func (push) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{id: a.Head}, s.Branches.Push(ctx, a.Target, a.Head, a.Base)
}
