package work

import "math"

// Tokens are what models read and wrote, by what providers charge for.
type Tokens struct {
	Input      int64 // read, neither from a cache nor into one
	CacheRead  int64
	CacheWrite int64
	Output     int64
}

// Add sums two counts.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{plus(t.Input, o.Input), plus(t.CacheRead, o.CacheRead), plus(t.CacheWrite, o.CacheWrite), plus(t.Output, o.Output)}
}

// plus adds counts, which are never below zero. A sum that is too large stays the
// largest there is: one that wrapped round would look as if nothing was used.
func plus(counts ...int64) int64 {
	var sum int64
	for _, n := range counts {
		if sum += n; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}

// Most takes the larger of each count: two reports of the same use, of which
// either may have come too early.
func (t Tokens) Most(o Tokens) Tokens {
	return Tokens{max(t.Input, o.Input), max(t.CacheRead, o.CacheRead), max(t.CacheWrite, o.CacheWrite), max(t.Output, o.Output)}
}

// Usage is what the tokens come to, with a cost.
func (t Tokens) Usage(cost float64) Usage {
	return Usage{InputTokens: plus(t.Input, t.CacheRead, t.CacheWrite), OutputTokens: t.Output, CostUSD: cost}
}

// Prices are what a model costs, in USD for a million tokens.
type Prices struct{ Input, CacheRead, CacheWrite, Output float64 }

// Cost is what tokens cost, in USD.
func (p Prices) Cost(t Tokens) float64 {
	const million = 1e6
	return (float64(t.Input)*p.Input + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite + float64(t.Output)*p.Output) / million
}
