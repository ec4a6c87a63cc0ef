package agent

import (
	"math"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// The largest plausible usage of one run. A larger count is a mistake or a lie and is capped: if it
// counted as zero, it would bypass every budget.
const (
	MaxTokens = 1e12
	MaxCost   = 1e6
)

// Charge returns the usage of tokens. Prices from the config win over the given cost.
func (s Spec) Charge(t spending.Tokens, cost float64) work.Usage {
	if s.Prices != nil {
		cost = s.Prices.Cost(t)
	}
	return t.Usage(cost)
}

// Countable clamps a provider's count, so that sums stay valid.
func Countable(n int64) int64 { return min(max(n, 0), MaxTokens) }

// Sane returns n, or 0 if it is negative, NaN or above most.
func Sane(n, most float64) float64 {
	if math.IsNaN(n) || n < 0 || n > most {
		return 0
	}
	return n
}

// Bounded clamps n to most and turns negative values and NaN into 0.
func Bounded(n, most float64) float64 { return Sane(min(n, most), most) }
