package work

import (
	"math"
	"time"
)

// Run is one start of an agent for a turn. It is stored before the agent starts, and kept if the
// pass dies.
type Run struct {
	ID      int64
	Turn    int64
	Attempt bool   // it begins an attempt; later runs of the attempt repair its answer
	Agent   string // name in the config
	Session string // the provider's session; empty: none, or unknown yet
	Began   time.Time
	Ended   time.Time // zero: its end was not seen
	Usage   Usage     // as far as known
	Unknown bool      // it used more than Usage, by an unknown amount
}

// SumCounts adds counts that are not negative. If the sum overflows, it returns the largest
// integer, because a wrapped sum would look as if nothing was used.
func SumCounts(counts ...int64) int64 {
	var sum int64
	for _, n := range counts {
		if sum += n; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}
