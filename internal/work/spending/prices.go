package spending

import "github.com/mergexo/gh-mergexo/internal/work"

// Tokens are what models read and wrote, by what providers charge for.
type Tokens struct {
	Input      int64 // read, neither from a cache nor into one
	CacheRead  int64
	CacheWrite int64
	Output     int64
}

// Add sums two counts.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{work.SumCounts(t.Input, o.Input), work.SumCounts(t.CacheRead, o.CacheRead), work.SumCounts(t.CacheWrite, o.CacheWrite), work.SumCounts(t.Output, o.Output)}
}

// Most takes the larger of each count: two reports of the same use, of which
// either may have come too early.
func (t Tokens) Most(o Tokens) Tokens {
	return Tokens{max(t.Input, o.Input), max(t.CacheRead, o.CacheRead), max(t.CacheWrite, o.CacheWrite), max(t.Output, o.Output)}
}

// Usage is what the tokens come to, with a cost.
func (t Tokens) Usage(cost float64) work.Usage {
	return work.Usage{InputTokens: work.SumCounts(t.Input, t.CacheRead, t.CacheWrite), OutputTokens: t.Output, CostUSD: cost}
}

// Prices are what a model costs, in USD for a million tokens.
type Prices struct{ Input, CacheRead, CacheWrite, Output float64 }

// Cost is what tokens cost, in USD.
func (p Prices) Cost(t Tokens) float64 {
	const million = 1e6
	return (float64(t.Input)*p.Input + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite + float64(t.Output)*p.Output) / million
}
