package restore

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// headMoved is for a turn that is about one head and no other: a review of it, or the
// fix of what a review of it asks for. Which head is next is for the plan to say, once
// GitHub's API shows what the remote has.
func (p *Restorer) headMoved(ctx context.Context, l *env.Lease, head string) error {
	pull, ok, err := l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, l.Turn.Number)
	switch {
	case err != nil:
		return fmt.Errorf("read the head of the pull request: %w", err)
	case ok && pull.HeadOID == l.Turn.Head:
		return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyHeadNotShown, Commit: head}}
	}
	return &work.SupersededError{Reason: "the head moved on"}
}
