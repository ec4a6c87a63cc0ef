package tick

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// checkPatience is how long red checks wait for others that have not ended: one that
// never ends keeps nobody from mending what is red.
const checkPatience = time.Hour

// patient is the policy that holds by now.
func patient(all []github.Check, policy work.ChecksPolicy, now time.Time) work.ChecksPolicy {
	if policy != work.ChecksComplete || len(red(all, policy)) > 0 {
		return policy
	}
	if since := redSince(all, work.ChecksFirst); !since.IsZero() && now.Sub(since) > checkPatience {
		return work.ChecksFirst
	}
	return policy
}

// readRedBeside reads which checks of the head are red while people are answered: they
// may be asking for just that, and what is pushed may mend them. No turn waits for it.
func (p *Briefs) readRedBeside(ctx context.Context, l *lease) error {
	if l.turn.Kind.Start() || l.turn.Kind == work.KindFix || l.remote.Settings.Checks == work.ChecksNever {
		return nil
	}
	pull, err := p.itemPull(ctx, l)
	if err != nil || !slices.Contains([]string{"FAILURE", "ERROR"}, pull.Rollup) {
		return err
	}
	details, _, err := l.remote.GitHub.Details(ctx, []string{pull.NodeID})
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) == 1 && details[0].HeadOID == l.turn.Head {
		l.red = red(details[0].Checks, work.ChecksFirst)
	}
	return p.readRuns(ctx, l)
}

// approvalOnly is what an agent may ask for that answers an approval.
var approvalOnly = []string{"an answer in general_comment: this is an approval, nothing is pushed for it, so change no file"}

// approves reports whether people only approved, with a word: that is answered, and
// nothing is pushed over what they approved.
func (l *lease) approves() bool {
	said := slices.DeleteFunc(slices.Clone(l.events), func(e work.Event) bool { return !e.Kind.Said() })
	return len(said) > 0 && !slices.ContainsFunc(said, func(e work.Event) bool { return e.Kind != work.EventSummary || e.State != "APPROVED" })
}

// mode says whether the turn's agent may change files.
func (l *lease) mode() work.Mode {
	if l.approves() {
		return work.ModeRead
	}
	return l.turn.Kind.Mode()
}
