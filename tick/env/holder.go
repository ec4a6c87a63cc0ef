package env

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
)

// Holder knows which repositories this machine may work on, where several machines share
// them.
type Holder interface {
	// Mine reports whether this machine holds a repository, as far as it knows.
	Mine(r *Repo) bool
	// Keep makes sure, before something is written or an agent is started, that nobody else
	// may work on a repository for some time. A *work.WaitError says that another machine may.
	Keep(ctx context.Context, r *Repo, lasting time.Duration) error
}

// holds is what is asked of a mirror about which machine works on the repository, and whether
// any of them merges.
type holds interface {
	ReadHold(ctx context.Context) (held git.Hold, at string, err error)
	PutHold(ctx context.Context, held git.Hold, old string) (at string, err error)
	DropHold(ctx context.Context, old string) error
	ReadStop(ctx context.Context) (why string, stopped bool, err error)
	PutStop(ctx context.Context, why string, since time.Time) error
	DropStop(ctx context.Context) (stopped bool, err error)
}

// Shortly is longer than what is sent at once takes: notices, a merge, the effects of a turn.
const Shortly = 10 * time.Minute

// Keep is Holder's, where there is one.
func (p *Env) Keep(ctx context.Context, r *Repo, lasting time.Duration) error {
	if p.Holds == nil {
		return nil
	}
	return p.Holds.Keep(ctx, r, lasting)
}
