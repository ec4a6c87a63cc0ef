package work

import "time"

// Spent is what one turn, or one run of its agent, took of the budgets, and what
// it came to.
type Spent struct {
	Turn     int64
	Run      int64 // 0: of all the turn's runs
	Kind     Kind
	Reviewer string // whose review it made, or whose demands it fixed; empty: neither
	Step     Step
	Head     string // the commit from which its agent worked
	Commit   string // what it left; empty when nothing changed, or nothing yet
	CostUSD  float64
	Attempts int       // that began: budgets count each as a turn
	Unknown  int       // runs of which it is not known what they used
	At       time.Time // when it was claimed, or the run began
}

// Turns is how many turns of the budgets it is: a turn that is going to run is one
// already.
func (s Spent) Turns() int {
	if s.Run == 0 {
		return max(s.Attempts, 1)
	}
	return s.Attempts
}
