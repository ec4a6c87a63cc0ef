package turn

import (
	"context"
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// TestARunThatReportsNothingIsUnknown: only a run that its provider refused, or that did not start, used
// nothing. Of every other run, what it does not report is unknown, and it is not given back.
func TestARunThatReportsNothingIsUnknown(t *testing.T) {
	blocked := func(kind work.ReasonKind) error { return &work.BlockedError{Reason: work.Reason{Kind: kind}} }
	for name, c := range map[string]struct {
		ended   error
		nothing bool
	}{
		"answered":        {nil, false},
		"failed":          {&agent.FailedError{}, false},
		"unusable":        {&agent.AnswerError{}, false},
		"too late":        {&agent.TimeoutError{}, false},
		"too large":       {&agent.LimitError{}, false},
		"interrupted":     {context.Canceled, false},
		"cancelled":       {&work.CancelledError{}, false},
		"superseded":      {&work.SupersededError{}, false},
		"something else":  {errors.New("x"), false},
		"the model no":    {blocked(work.WhyAgentDeclined), false},
		"its own limit":   {blocked(work.WhyAgentLimit), false},
		"provider's wait": {&work.WaitError{}, true},
		"no session":      {&agent.SessionError{}, true},
		"logged out":      {blocked(work.WhyAgentLoggedOut), true},
		"no credit":       {blocked(work.WhyAgentNoCredit), true},
		"no model":        {blocked(work.WhyAgentNoModel), true},
		"no program":      {blocked(work.WhyAgentMissing), true},
	} {
		t.Run(name, func(t *testing.T) {
			p, l := accountant(t, work.Budgets{CostPerItem: 25})
			run, _, err := p.beginRun(t.Context(), l, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.endRun(t.Context(), l, run, agent.Result{}, c.ended); err != nil {
				t.Fatal(err)
			}
			want := work.UsageSum{UnknownTokens: 1, UnknownCost: 1}
			if c.nothing {
				want = work.UsageSum{}
			}
			if l.Turn.Used != want || l.Used == c.nothing {
				t.Errorf("used %+v, paid %v", l.Turn.Used, l.Used)
			}
		})
	}
}
