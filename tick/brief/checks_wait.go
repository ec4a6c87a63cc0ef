package brief

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// readRedBeside reads which checks of the head are red while people are answered: they
// may be asking for just that, and what is pushed may mend them. No turn waits for it.
func (p *Briefs) readRedBeside(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind.Start() || l.Turn.Kind == work.KindFix || l.Repo.Settings.Checks == work.ChecksNever {
		return nil
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil || !slices.Contains([]string{"FAILURE", "ERROR"}, pull.Rollup) {
		return err
	}
	details, _, err := l.Repo.GitHub.Details(ctx, []string{pull.NodeID})
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) == 1 && details[0].HeadOID == l.Turn.Head {
		l.Red = github.Red(details[0].Checks, work.ChecksFirst)
	}
	return p.readRuns(ctx, l)
}

// ApprovalOnly is what an agent may ask for that answers an approval.
var ApprovalOnly = []string{"an answer in general_comment: this is an approval, nothing is pushed for it, so change no file"}
