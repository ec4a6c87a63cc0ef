package work

// Budgets limit what may be spent before a person must act. 0: no limit. Costs are in US dollars,
// as agents report them.
type Budgets struct {
	TurnsPerItem   int
	FeedbackRounds int // turns of one item that answer people
	CostPerItem    float64
	CostPerTurn    float64 // of one turn, with all its attempts; a running agent is ended
	TokensPerTurn  int     // as CostPerTurn: input, cached or not, and output
	TurnsPerDay    int     // of all repositories, in any 24 hours
	CostPerDay     float64
}

// LimitCost reports whether a budget limits the cost.
func (b Budgets) LimitCost() bool { return b.CostPerItem > 0 || b.CostPerTurn > 0 || b.CostPerDay > 0 }

// Labels are the names of the labels that start and pause work, and those that show its state.
type Labels struct {
	Design   string
	Bugfix   string
	SmallJob string
	Roadmap  string
	Ignore   string
	Review   string // on somebody else's pull request: review it
	Hold     string // on a pull request: hold its reviews

	Working string
	Blocked string
	Done    string

	HumanReview string // on a pull request: only people review it from now on
	Freeze      string // on an issue: while it is open, nothing is merged
}

// All returns all labels.
func (l Labels) All() []string {
	return []string{l.Design, l.Bugfix, l.SmallJob, l.Roadmap, l.Ignore, l.Review, l.Hold, l.Working, l.Blocked, l.Done, l.HumanReview, l.Freeze}
}

// Of returns the label that starts a flow. Empty: no label does.
func (l Labels) Of(f Flow) string {
	switch f {
	case FlowDesign:
		return l.Design
	case FlowBugfix:
		return l.Bugfix
	case FlowSmallJob:
		return l.SmallJob
	case FlowRoadmap:
		return l.Roadmap
	case FlowReview:
		return l.Review
	case FlowImplementation:
		return ""
	}
	return ""
}

// MostMentioned is how many people a comment mentions at most who may end a wait and were not asked by
// name.
const MostMentioned = 3

// MayWrite reports whether a permission, in GitHub's words, lets somebody write to a repository.
func MayWrite(level string) bool {
	return level == "admin" || level == "maintain" || level == "write"
}
