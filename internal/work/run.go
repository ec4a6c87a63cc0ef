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
	Tells   bool      // Known says what its agent reports: the run was not cut short, and was paid for
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

// Outage is an agent whose runs wait: since its first run that had to wait for its provider, no run was
// answered; or on a machine, no run can be before a person acts.
type Outage struct {
	Agent string    // name in the config
	Since time.Time // when the first of these runs ended
	Tried time.Time // when the last one ended
	Until time.Time // until when the last one waits

	Machine string // where a person has to act; empty: its provider is out
	Why     Reason // what they have to act on; none: its provider is out
	Passes  int    // in how many passes it was so
	Setup   string // a hash of the agent's login and settings then
}

// OfAgent reports whether a reason keeps an agent from every turn on a machine, and ends without a word
// of a person on GitHub.
func (k ReasonKind) OfAgent() bool {
	switch k { //nolint:exhaustive // the others concern one turn, or one repository
	case WhyAgentLoggedOut, WhyAgentNoCredit, WhyAgentMissing:
		return true
	}
	return false
}

// mostAgentWait is the longest time without a try of an agent that cannot work: passes do not see
// everything that mends it.
const mostAgentWait = 5 * time.Minute

// Meets returns the outage after one more run that could not be, in a pass that began at a time. The first
// such pass changes nothing: two processes may have redeemed one token of the provider, and the later one
// is refused once.
func (o Outage) Meets(why Reason, setup string, began, now time.Time, retryBase time.Duration) Outage {
	if o.Why.Kind != why.Kind || now.Sub(o.Tried) > OutageForgotten {
		o = Outage{Agent: o.Agent, Since: now}
	}
	if began.After(o.Tried) {
		o.Passes++
	}
	o.Why, o.Setup, o.Tried, o.Until = why, setup, now, now
	if o.Stands() {
		o.Until = now.Add(min(Backoff(retryBase, o.Passes-1), mostAgentWait))
	}
	return o
}

// Stands reports whether more than one pass met it.
func (o Outage) Stands() bool { return !o.Why.None() && o.Passes > 1 }

// Stops reports whether the agent is not tried now. With another login or other settings it is.
func (o Outage) Stops(setup string, now time.Time) bool {
	return o.Stands() && o.Until.After(now) && o.Setup == setup && !Future(o.Tried, now)
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
