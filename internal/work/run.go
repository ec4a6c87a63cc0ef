package work

import (
	"math"
	"time"
)

// Run is one start of an agent for a turn. It is stored before the agent starts,
// and stays when the pass ends before it.
type Run struct {
	ID      int64
	Turn    int64
	Attempt bool   // it begins an attempt: later ones of the same attempt repair what it left
	Agent   string // name in the config
	Session string // the provider's thread; empty: none, or not known yet
	Began   time.Time
	Ended   time.Time // zero: nobody saw its end
	Usage   Usage     // as far as it is known
	Unknown bool      // it used more than that, and nothing says how much
}

// SumCounts adds counts, which are never below zero. A sum that is too large stays the
// largest there is: one that wrapped round would look as if nothing was used.
func SumCounts(counts ...int64) int64 {
	var sum int64
	for _, n := range counts {
		if sum += n; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}
