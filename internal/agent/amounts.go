package agent

import (
	"math"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// The most that one run can have used; more is a mistake of the program's, or a
// lie, and counts as so much: as nothing it would get round every budget.
const (
	MaxTokens = 1e12
	MaxCost   = 1e6
)

// Charge is what tokens come to: at the prices that the config states, else at a
// cost that is known from elsewhere.
func (s Spec) Charge(t spending.Tokens, cost float64) work.Usage {
	if s.Prices != nil {
		cost = s.Prices.Cost(t)
	}
	return t.Usage(cost)
}

// Countable is a provider's count as it may be added up.
func Countable(n int64) int64 { return min(max(n, 0), MaxTokens) }

// Sane is a number as it may be reckoned with: 0 where it makes no sense.
func Sane(n, most float64) float64 {
	if math.IsNaN(n) || n < 0 || n > most {
		return 0
	}
	return n
}

// Bounded is a count as it may be added up.
func Bounded(n, most float64) float64 { return Sane(min(n, most), most) }
