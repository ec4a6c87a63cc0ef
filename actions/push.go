package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Branches is what actions need from git.
type Branches interface {
	// RemoteHeads lists the current branches of the remote under a prefix, with their commits.
	RemoteHeads(ctx context.Context, prefix string) (map[string]string, error)
	// Fetch fetches into the mirror: our branches, the default branch, wanted branches and commits.
	Fetch(ctx context.Context, want ...string) error
	// ContainsTurn reports whether the commit, or one with the turn's trailer, is reachable from
	// head.
	ContainsTurn(ctx context.Context, head, turnKey, oid string) (bool, error)
	// Push moves a branch from the expected commit to another, with a lease. An empty expected
	// creates the branch.
	Push(ctx context.Context, branch, oid, expected string) error
	landings
}

// push moves a branch to the turn's commit. Target is the branch, Base the expected head (the
// lease), Head the commit, Title the turn's key.
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
	// Somebody pushed on top of it, or something else: look in the history.
	if err := s.Branches.Fetch(ctx, head); err != nil {
		return observation{}, false, err
	}
	carried, err := s.Branches.ContainsTurn(ctx, head, a.Title, a.Head)
	return observation{id: a.Head}, carried, err
}

func (push) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	return observation{id: a.Head}, s.Branches.Push(ctx, a.Target, a.Head, a.Base)
}
