package work

import "time"

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
