package push

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// DeleteBranch deletes a branch of the remote that is where it is expected. One that is gone
// is no error; one that moved stays, and is a *LeaseError. The remote's default branch is
// never deleted, nor one of keep, bases of anybody's: that is a *KeptError. Other errors are
// Push's.
func (p Pushes) DeleteBranch(ctx context.Context, branch, expected string, keep ...string) error {
	if err := p.checkDelete(ctx, branch, expected, keep); err != nil {
		return err
	}
	ref := "refs/heads/" + branch
	err := p.send(ctx, branch, "", expected, "--force-with-lease="+ref+":"+expected, p.mirror.URL(), ":"+ref)
	if _, moved := errors.AsType[*LeaseError](err); moved {
		heads, lookErr := p.mirror.RemoteHeads(ctx, branch)
		if lookErr == nil && heads[branch] == "" {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	// A fetch forgets it, too.
	_ = p.mirror.DropRef(ctx, mirror.Tracking+branch)
	return nil
}

// checkDelete refuses what is nobody's to delete.
func (p Pushes) checkDelete(ctx context.Context, branch, expected string, keep []string) error {
	if err := mirror.CheckBranch(branch); err != nil {
		return fmt.Errorf("delete %s: %w", branch, err)
	}
	if !mirror.ValidOID(expected) {
		return fmt.Errorf("delete %s: %q is no object id", branch, expected)
	}
	if slices.Contains(keep, branch) {
		return &KeptError{Branch: branch, Reason: "it is a base branch"}
	}
	byDefault, err := p.mirror.DefaultBranch(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("delete %s: %w", branch, err)
	case byDefault == branch:
		return &KeptError{Branch: branch, Reason: "it is the repository's default branch"}
	}
	return nil
}
