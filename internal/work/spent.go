package work

import "time"

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
	Attempts int       // attempts that began; budgets count each as a turn
	Unknown  int       // runs with unknown usage
	At       time.Time // when the turn was claimed or the run began
}

// Turns returns the number of turns that budgets count. A turn that has not run yet counts as one.
func (s Spent) Turns() int {
	if s.Run == 0 {
		return max(s.Attempts, 1)
	}
	return s.Attempts
}
