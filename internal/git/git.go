package git

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// What users of this package need of its rooms, under one name.
type (
	Options      = plumbing.Options
	Identity     = plumbing.Identity
	CommandError = plumbing.CommandError
	NetworkError = plumbing.NetworkError
	AccessError  = plumbing.AccessError
)

// Git is the operator's git.
type Git struct{ *plumbing.Git }

// Open finds the operator's git; see plumbing.Open.
func Open(ctx context.Context, opt Options) (*Git, error) {
	g, err := plumbing.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	return &Git{g}, nil
}
