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
	Ended   time.Time // zero: no pass saw the run end
	Usage   Usage     // as far as known
	Known   Known     // which parts of Usage are complete
	Machine string    // where it runs, or ran
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

// Spent is what a turn, or one run of its agent, used of the budgets, and its result.
type Spent struct {
	Turn     int64
	Run      int64 // 0: all runs of the turn
	Kind     Kind
	Reviewer string // whose review it made, or whose findings it fixed; empty: neither
	Step     Step
	Head     string // the commit on which the agent worked
	Commit   string // the resulting commit; empty: none yet, or nothing changed
	CostUSD  float64
	Attempts int // attempts that began; budgets count each as a turn

	UnknownCost int       // runs with unknown cost
	At          time.Time // when the turn was claimed or the run began
}

// Turns returns the number of turns that budgets count. A turn that has not run yet counts as one.
func (s Spent) Turns() int {
	if s.Run == 0 {
		return max(s.Attempts, 1)
	}
	return s.Attempts
}

// Outage is an agent whose provider is out: since its first run that had to wait for it, no run was
// answered.
type Outage struct {
	Agent string    // name in the config
	Since time.Time // when the first of these runs ended
	Tried time.Time // when the last one ended
	Until time.Time // until when the last one waits
}

// OutageForgotten is how long after its last run an outage counts as over: nobody knows what was in
// between.
const OutageForgotten = 24 * time.Hour

// Again returns when the agent is tried again although another one works in its place: once its last
// run has stopped waiting, and at most every after.
func (o Outage) Again(after time.Duration) time.Time {
	again := o.Tried.Add(after)
	if o.Until.After(again) {
		return o.Until
	}
	return again
}

// Takes reports whether another agent takes over: the outage has lasted for after, and the agent is
// not to be tried again yet.
func (o Outage) Takes(now time.Time, after time.Duration) bool {
	return !o.Since.IsZero() && !o.Since.Add(after).After(now) && o.Again(after).After(now) && !Future(o.Tried, now)
}
