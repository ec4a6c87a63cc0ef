package compose

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// MostDescribed is how many red checks are read in detail.
const MostDescribed = 20

// Stuck says why people must act after a turn that was to mend something and
// changed nothing, nor will have the checks run again: red they stay.
func Stuck(ctx context.Context, tx *store.Tx, l *env.Lease, a prompts.Answer) (work.Reason, error) {
	if l.Turn.Kind != work.KindFix || l.Turn.Reviewer != "" || l.Turn.Commit != "" || l.Committed() {
		return work.Reason{}, nil
	}
	planned, err := tx.ListTurnActions(ctx, l.Turn.ID)
	if err != nil {
		return work.Reason{}, err
	}
	helps := func(a work.Action) bool { return a.Kind == work.ActionRerun || a.Kind == work.ActionPush } // a push that is void: somebody made the same
	red := work.Findings(l.Events)
	switch {
	case slices.ContainsFunc(planned, helps):
		return work.Reason{}, nil
	case len(red) == 0:
		return work.Reason{Kind: work.WhyNotFixed, Branch: l.Turn.Base}, nil
	case a.FlakyTest != nil:
		return work.Reason{Kind: work.WhyFlakyTest, Name: a.FlakyTest.Name}, nil
	}
	return work.Reason{Kind: work.WhyNotFixed, Names: red}, nil
}
