package git

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/git/gate"
	"github.com/mergexo/gh-mergexo/internal/git/landing"
	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
	"github.com/mergexo/gh-mergexo/internal/git/push"
)

// What users of this package need of its rooms, under one name.
type (
	Options      = plumbing.Options
	Limits       = gate.Limits
	RefusedError = gate.RefusedError
	Identity     = plumbing.Identity
	CommandError = plumbing.CommandError
	NetworkError = plumbing.NetworkError
	AccessError  = plumbing.AccessError
	Landing      = landing.Landing

	LeaseError    = push.LeaseError
	RejectedError = push.RejectedError
	UnclearError  = push.UnclearError
	KeptError     = push.KeptError
)

// The ways in which a head reaches its base, and the kinds of difference of a Landing; see
// the room landing.
const (
	Squash = landing.Squash
	Rebase = landing.Rebase
	Pushed = landing.Pushed
	Merged = landing.Merge

	OtherBase    = landing.OtherBase
	OtherHead    = landing.OtherHead
	OtherTree    = landing.OtherTree
	OtherSeries  = landing.OtherSeries
	NotMergeable = landing.NotMergeable
)

// Mirror is a repository's mirror, with the commits that are made and pushed there.
// Its methods may be called by several processes at once.
type Mirror struct {
	*mirror.Mirror
	mirror.Turns
	mirror.Merges
	landing.Landings
	push.Pushes
	voice   Voice
	indexes sync.Map // path of an index -> restored: what was found in it
}

// Mirror names a mirror; see mirror.New.
func (g *Git) Mirror(dir, url, lockPath string) *Mirror {
	m := mirror.New(g.Git, dir, url, lockPath)
	return &Mirror{Mirror: m, Turns: m.Turns(), Merges: m.Merges(), Landings: landing.Of(m), Pushes: push.Of(m)}
}

// Borrowing makes the mirror read the objects of another one's folder, too. It is
// for mirrors that are thrown away: what is there is not fetched again.
func (m *Mirror) Borrowing(dir string) *Mirror {
	m.Borrow(dir)
	return m
}

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
