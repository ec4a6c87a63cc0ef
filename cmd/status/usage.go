package status

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Usage is what agents used in several runs.
type Usage struct {
	InputTokens   *int64 `json:"inputTokens"`
	OutputTokens  *int64 `json:"outputTokens"`
	UnknownTokens int    `json:"runsOfUnknownTokens"`
	Cost
}

// Cost is the cost of several runs.
type Cost struct {
	USD     *float64 `json:"costUSD"`
	Unknown int      `json:"runsOfUnknownCost"`
}

// UsageOf returns a sum for people and programs.
func UsageOf(s work.UsageSum) Usage {
	return Usage{work.KnownPart(s.InputTokens, s.UnknownTokens), work.KnownPart(s.OutputTokens, s.UnknownTokens), s.UnknownTokens, CostOf(s.CostUSD, s.UnknownCost)}
}

// CostOf returns a cost for people and programs. unknown is the number of runs that it leaves out.
func CostOf(usd float64, unknown int) Cost {
	return Cost{USD: work.KnownPart(usd, unknown), Unknown: unknown}
}

// Known is the part of a sum that is known.
func Known[N int64 | float64](sum *N) N {
	if sum == nil {
		return 0
	}
	return *sum
}

// Says is the cost for people.
func (c Cost) Says() string { return spending.Cost(Known(c.USD), c.Unknown) }

// Tokens formats one of the sums of tokens.
func (u Usage) Tokens(sum *int64, format func(int64) string) string {
	return work.AtLeast(Known(sum), u.UnknownTokens, "tokens", format)
}

// used is the usage as a suffix for a line. It leaves out what is zero.
func (u Usage) used() string {
	said, in, out := "", Known(u.InputTokens), Known(u.OutputTokens)
	if u.Unknown > 0 && u.Unknown == u.UnknownTokens && in+out == 0 && Known(u.USD) == 0 { // as of a run that was cut short
		return fmt.Sprintf(", tokens and cost of %s unknown", work.Count(u.Unknown, "run"))
	}
	if in > 0 || out > 0 || u.UnknownTokens > 0 {
		sum := work.SumCounts(in, out)
		said += ", " + u.Tokens(&sum, func(int64) string {
			return fmt.Sprintf("%s + %s tokens", terminal.Tokens(in), terminal.Tokens(out))
		})
	}
	if Known(u.USD) > 0 || u.Unknown > 0 {
		said += ", " + u.Says()
	}
	return said
}
