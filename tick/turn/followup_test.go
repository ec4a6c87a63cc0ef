package turn

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Every reason for which a start waits has a state.
func TestEveryWaitHasAState(t *testing.T) {
	kinds := []work.ReasonKind{
		work.WhyQuestion, work.WhyTestsFail, work.WhyNothingChanged, work.WhyChangeRefused, work.WhyNewComments, work.WhyAgentMissing,
	}
	for _, kind := range kinds {
		v := classify(&work.BlockedError{Reason: work.Reason{Kind: kind, Text: "why"}}, work.Turn{Kind: work.KindBugfixStart}, noon, time.Second)
		if (v.kind == env.VerdictSuperseded) != (kind == work.WhyNewComments) || v.why.Kind != kind || v.why.Text != "why" {
			t.Errorf("%s: %+v", kind, v)
		}
		m := (&Turns{}).waitingMove(work.Followup{Reason: work.Reason{Kind: kind}})
		if (m.To == work.StateAwaitingIssueFollowup) != kind.Answerable() || !slices.Contains(work.StatesBefore(m.Cause, m.To), work.StateRunning) {
			t.Errorf("%s: %+v", kind, m)
		}
	}
}
