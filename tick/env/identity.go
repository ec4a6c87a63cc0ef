package env

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// SameFor is how long an answer about which repository a name stands for is acted on.
const SameFor = time.Minute

// Confirm notes that the name stood for the repository just now.
func (r *Repo) Confirm(at time.Time) {
	r.same.Lock()
	defer r.same.Unlock()
	r.sameAt = at
}

// Confirmed reports whether the name stood for the repository within some time.
func (r *Repo) Confirmed(now time.Time, within time.Duration) bool {
	r.same.Lock()
	defer r.same.Unlock()
	return now.Sub(r.sameAt).Abs() < within
}

// StillSame makes sure, right before something is written or shown to an agent, that
// the name stands for the repository that this is about: GitHub said so within some
// time.
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
