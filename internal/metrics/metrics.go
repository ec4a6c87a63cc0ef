// Package metrics formats values as text for Prometheus. It is pure.
package metrics

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Values are the data of the metrics. Counters are totals since the database was created; of several
// machines that share one, those of one machine.
type Values struct {
	Build    Build
	Last     work.LastPass
	Work     bool // passes work, see work.JudgePasses
	Passes   []work.PassCount
	Queue    int // turns that are due and have not begun; negative: unknown
	Workers  int // limit in the config
	Running  int
	Items    []Items
	Turns    []Turns
	TurnTime Times
	Answers  Times // from a person's comment to its answer
	Failures []Failures
	Used     []Used
	Requests []work.RequestCount
	Limits   []work.RateLimit
	Machines []Machine // that share the database; none: it is not shared
}

// Build identifies the program.
type Build struct{ Version, Go, OS, Arch, Machine string }

// Machine is whether a machine is silent.
type Machine struct {
	Name   string
	Silent bool
}

// Items is how many work items of a repository are in a state.
type Items struct {
	Repo  string
	State work.State
	Count int
}

// Turns is how many turns ended in one way.
type Turns struct {
	Kind, Agent string
	Outcome     string // a work.Step that ends a turn
	Count       int
}

// Failures is how often something failed for a kind of reason.
type Failures struct {
	Kind  work.ReasonKind
	Count int
}

// Used is an agent's usage in finished runs.
type Used struct {
	Agent string
	Runs  int
	work.UsageSum
}

// Times is a histogram of durations.
type Times struct {
	Bounds []time.Duration // upper bounds, ascending
	Counts map[time.Duration]int
	Sum    time.Duration
}

// Add adds n durations, sum in total, to the bucket with the upper bound most; 0 means no bound.
func (t *Times) Add(most time.Duration, n int, sum time.Duration) {
	if t.Counts == nil {
		t.Counts = map[time.Duration]int{}
	}
	t.Counts[most] += n
	t.Sum += sum
}
