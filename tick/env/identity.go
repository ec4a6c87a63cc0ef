package env

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SameFor is how long an answer about which repository a name stands for is valid.
const SameFor = time.Minute

// Confirm records that GitHub just returned this repository for its name.
func (r *Repo) Confirm(at time.Time) {
	r.same.Lock()
	defer r.same.Unlock()
	r.sameAt = at
}

// Confirmed reports whether GitHub returned this repository for its name within the given time.
func (r *Repo) Confirmed(now time.Time, within time.Duration) bool {
	r.same.Lock()
	defer r.same.Unlock()
	return now.Sub(r.sameAt).Abs() < within
}

// StillSame checks, right before a write or before content reaches an agent, that the name still
// stands for this repository. An answer younger than within is enough. It returns a WaitError if
// the repository is gone or replaced.
func (p *Env) StillSame(ctx context.Context, r *Repo, within time.Duration) error {
	now := r.GitHub.Now()
	if r.Confirmed(now, within) {
		return nil
	}
	seen, err := r.GitHub.Repository(ctx, r.Row.Current)
	switch {
	case github.IsStatus(err, 404):
		return &work.WaitError{Until: now.Add(SameFor), Reason: work.Reason{Kind: work.WhyRepoGone, Name: r.Name.FullName()}}
	case err != nil:
		return fmt.Errorf("read which repository %s is: %w", r.Name.FullName(), err)
	case seen.NodeID != r.Row.NodeID:
		return &work.WaitError{Until: now.Add(SameFor), Reason: work.Reason{Kind: work.WhyRepoReplaced, Name: r.Name.FullName()}}
	}
	r.Confirm(now)
	return nil
}
