package spending

import "github.com/mergexo/gh-mergexo/internal/work"

// Tokens are counts of tokens, by the categories that providers charge for.
type Tokens struct {
	Input      int64 // input that was neither read from nor written to a cache
	CacheRead  int64
	CacheWrite int64
	Output     int64
}

// Add sums two counts.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{work.SumCounts(t.Input, o.Input), work.SumCounts(t.CacheRead, o.CacheRead), work.SumCounts(t.CacheWrite, o.CacheWrite), work.SumCounts(t.Output, o.Output)}
}

// Most returns the larger of each count, for two reports of the same usage of which either may be
// too early.
func (t Tokens) Most(o Tokens) Tokens {
	return Tokens{max(t.Input, o.Input), max(t.CacheRead, o.CacheRead), max(t.CacheWrite, o.CacheWrite), max(t.Output, o.Output)}
}

// Usage returns the usage, with a cost.
func (t Tokens) Usage(cost float64) work.Usage {
	return work.Usage{InputTokens: work.SumCounts(t.Input, t.CacheRead, t.CacheWrite), OutputTokens: t.Output, CostUSD: cost}
}

// Prices are a model's prices, in USD for a million tokens.
type Prices struct{ Input, CacheRead, CacheWrite, Output float64 }

// Cost returns the cost of tokens, in USD.
func (p Prices) Cost(t Tokens) float64 {
	const million = 1e6
	return (float64(t.Input)*p.Input + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite + float64(t.Output)*p.Output) / million
}
