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

	sum work.UsageSum
}

// Cost is the cost of several runs.
type Cost struct {
	USD     *float64 `json:"costUSD"`
	Unknown int      `json:"runsOfUnknownCost"`
}

// UsageOf returns a sum for people and programs.
func UsageOf(s work.UsageSum) Usage {
	return Usage{
		InputTokens: work.KnownPart(s.InputTokens, s.UnknownTokens), OutputTokens: work.KnownPart(s.OutputTokens, s.UnknownTokens), UnknownTokens: s.UnknownTokens,
		Cost: CostOf(s.CostUSD, s.UnknownCost), sum: s,
	}
}

// CostOf returns a cost for people and programs. unknown is the number of runs that it leaves out.
func CostOf(usd float64, unknown int) Cost {
	return Cost{USD: work.KnownPart(usd, unknown), Unknown: unknown}
}

// used is the usage as a suffix for a line. It leaves out what is zero.
func (u Usage) used() string {
	said, s := "", u.sum
	if s.InputTokens > 0 || s.OutputTokens > 0 || s.UnknownTokens > 0 {
		said += ", " + work.AtLeast(work.SumCounts(s.InputTokens, s.OutputTokens), s.UnknownTokens, "tokens", func(int64) string {
			return fmt.Sprintf("%s + %s tokens", terminal.Tokens(s.InputTokens), terminal.Tokens(s.OutputTokens))
		})
	}
	if s.CostUSD > 0 || s.UnknownCost > 0 {
		said += ", " + spending.Cost(s.CostUSD, s.UnknownCost)
	}
	return said
}
