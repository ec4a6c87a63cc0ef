package status

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// TestUsageTellsUnknownFromZero: in a line about a turn that ended or runs, zero is left out, unknown is
// said, and a sum that lacks a part is a lower bound; in JSON, unknown is null.
func TestUsageTellsUnknownFromZero(t *testing.T) {
	all := work.Known{Tokens: true, Cost: true}
	used := work.Usage{InputTokens: 1200, OutputTokens: 5, CostUSD: 1.2}
	for says, sum := range map[string]work.UsageSum{
		"":                                     {},
		", tokens of 1 run unknown":            work.UsageSum{}.Add(work.Usage{}, work.Known{Cost: true}),
		", cost of 1 run unknown":              work.UsageSum{}.Add(work.Usage{}, work.Known{Tokens: true}),
		", 1.2k + 5 tokens, 1.20 USD":          work.UsageSum{}.Add(used, all).Add(work.Usage{}, all),
		", at least 1.2k + 5 tokens, 1.20 USD": work.UsageSum{}.Add(used, all).Add(work.Usage{}, work.Known{Cost: true}),
		", 1.2k + 5 tokens, at least 1.20 USD": work.UsageSum{}.Add(used, all).Add(work.Usage{}, work.Known{Tokens: true}),
		", tokens and cost of 1 run unknown":   work.UsageSum{}.Add(work.Usage{}, work.Known{}),
	} {
		u := UsageOf(sum)
		if got := u.used(); got != says {
			t.Errorf("%+v: %q, want %q", sum, got, says)
		}
		if got := (Turn{Kind: work.KindFix, Doing: "its agent works", since: time.Unix(60, 0), Usage: u}).Says(time.Unix(120, 0)); got != "fix: its agent works, for 1m 00s"+says {
			t.Errorf("it runs: %q", got)
		}
		if (u.USD == nil) != (sum.UnknownCost > 0 && sum.CostUSD == 0) || (u.InputTokens == nil) != (sum.UnknownTokens > 0 && sum.InputTokens == 0) {
			t.Errorf("%+v as JSON: %+v", sum, u)
		}
	}
}
