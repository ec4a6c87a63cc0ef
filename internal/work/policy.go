package work

import (
	"strings"
)

// Budgets are what may be spent before a person must say so. 0 is no limit.
// Costs are what agents report, in US dollars.
type Budgets struct {
	TurnsPerItem   int
	FeedbackRounds int // turns of one item that answer people
	CostPerItem    float64
	CostPerTurn    float64 // of one turn, with all its attempts; its agent is ended while it works
	TokensPerTurn  int     // the same: read, from a cache or not, and written
	TurnsPerDay    int     // of all repositories, in any 24 hours
	CostPerDay     float64
}

// Labels are the labels that start and pause work, and those that show where it
// stands.
type Labels struct {
	Design   string
	Bugfix   string
	SmallJob string
	Ignore   string
	Review   string // of somebody else's pull request, which is to be reviewed
	Hold     string // of a pull request whose reviews are to wait

	Working string
	Blocked string
	Done    string

	HumanReview string // of a pull request that only people may review from now on
	Freeze      string // of an issue that keeps everything from being merged while it is open
}

// Flow gives the flow that a label starts.
func (l Labels) Flow(label string) (Flow, bool) {
	for _, f := range Flows() {
		if name := l.Of(f); name != "" && strings.EqualFold(name, label) {
			return f, true
		}
	}
	return "", false
}

// Of gives the label that starts a flow; empty for a flow that none starts.
func (l Labels) Of(f Flow) string {
	switch f {
	case FlowDesign:
		return l.Design
	case FlowBugfix:
		return l.Bugfix
	case FlowSmallJob:
		return l.SmallJob
	case FlowReview:
		return l.Review
	case FlowImplementation:
		return ""
	}
	return ""
}

// ChecksPolicy says when red checks of a pull request ask for a turn.
type ChecksPolicy string

// The policies about checks.
const (
	ChecksNever    ChecksPolicy = "never"
	ChecksFirst    ChecksPolicy = "first_failure" // as soon as one has failed
	ChecksComplete ChecksPolicy = "all_complete"  // once all have finished
)
