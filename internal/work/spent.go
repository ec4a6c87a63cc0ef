package work

import "time"

// Spent is what one turn took of the budgets, and what it came to. A turn whose
// agent never ran, and never will, took nothing and is none.
type Spent struct {
	Turn    int64
	Kind    Kind
	Step    Step
	Head    string // the commit from which its agent worked
	Commit  string // what it left; empty when nothing changed, or nothing yet
	CostUSD float64
	At      time.Time // when it was claimed
}
