package work

import (
	"slices"
	"time"
)

// Kind is the kind of a turn, which is the kind of its prompt.
type Kind string

// The kinds of turn.
const (
	KindDesignStart            Kind = "design_start"
	KindDesignFeedback         Kind = "design_feedback"
	KindImplementationStart    Kind = "implementation_start"
	KindImplementationFeedback Kind = "implementation_feedback"
	KindBugfixStart            Kind = "bugfix_start"
	KindSmallJobStart          Kind = "small_job_start"
	KindFix                    Kind = "fix"
	KindReview                 Kind = "review"
)

// Kinds lists every kind of turn.
func Kinds() []Kind {
	return []Kind{
		KindDesignStart, KindDesignFeedback, KindImplementationStart, KindImplementationFeedback, KindBugfixStart, KindSmallJobStart,
		KindFix, KindReview,
	}
}

// Start reports whether the turn opens a pull request.
func (k Kind) Start() bool {
	switch k {
	case KindDesignStart, KindImplementationStart, KindBugfixStart, KindSmallJobStart:
		return true
	case KindDesignFeedback, KindImplementationFeedback, KindFix, KindReview:
		return false
	}
	return false
}

// Mode says whether the agent may change the checkout.
type Mode string

// The modes of an agent's run.
const (
	ModeWrite Mode = "write"
	ModeRead  Mode = "read"
)

// Mode of a kind: a design is a document, which we write from the answer, and
// a review is an opinion; neither changes files.
func (k Kind) Mode() Mode {
	switch k {
	case KindDesignStart, KindReview:
		return ModeRead
	case KindDesignFeedback, KindImplementationStart, KindImplementationFeedback, KindBugfixStart, KindSmallJobStart, KindFix:
		return ModeWrite
	}
	return ModeRead
}

// Step is how far a turn has come. Each says what has already happened and is
// stored.
type Step string

// The steps of a turn. The last four end it.
const (
	StepClaimed    Step = "claimed"  // the turn is ours; its agent has not answered
	StepAnswered   Step = "answered" // answer and commit are stored, nothing was sent
	StepPushed     Step = "pushed"   // the commit is reachable from the remote head
	StepApplied    Step = "applied"  // every required action was seen on GitHub
	StepDone       Step = "done"     // events processed, session cached
	StepSuperseded Step = "superseded"
	StepFailed     Step = "failed"
	StepCancelled  Step = "cancelled"
)

// Ended reports whether nothing is left to do for the turn.
func (s Step) Ended() bool {
	switch s {
	case StepDone, StepSuperseded, StepFailed, StepCancelled:
		return true
	case StepClaimed, StepAnswered, StepPushed, StepApplied:
		return false
	}
	return false
}

// Leads reports whether a turn may move from one step to the other. Only an
// answer whose commit is lost takes a turn back, and only before its push: from
// then on its agent is never run again, and it is never given up.
func (s Step) Leads(to Step) bool {
	switch s {
	case StepClaimed:
		return to == StepAnswered || to.Ended()
	case StepAnswered:
		return to == StepClaimed || to == StepPushed || to.Ended()
	case StepPushed:
		return to == StepApplied || to == StepDone
	case StepApplied:
		return to == StepDone
	case StepDone, StepSuperseded, StepFailed, StepCancelled:
		return false
	}
	return false
}

// Turn is one agent invocation for one work item, with what it left behind.
type Turn struct {
	ID       int64
	RepoID   int64
	ItemID   int64
	Number   int // the issue for a start, the pull request for feedback
	Kind     Kind
	Reviewer string // whose review it makes, or whose demands it fixes; empty: neither
	Key      string // TurnKey; stored when claimed, never computed again
	Step     Step
	Slot     int
	Reason   string // why route planned it
	Blocked  bool   // parked until a person acts; the step says how far it came

	Branch string // empty until restore chose it
	Base   string // base branch
	Head   string // commit from which the agent works; empty until restored

	Agent     string  // name in the config
	Sandbox   Sandbox // what stood between it and the operator's files in its last run
	Request   []byte  // JSON document with prompt and context, stored before the first run
	Attempts  int     // that failed, and the one under way; all steps
	Runs      int     // agent invocations, repairs too
	Answer    []byte  // JSON, validated; nil until answered
	Commit    string  // oid; empty when the tree did not change
	Session   string  // the provider's thread after the run
	Usage     Usage
	EventKeys []string // sorted

	NotBefore  time.Time // nothing is tried before
	WaitReason Reason
	LastError  string
	ClaimedAt  time.Time
	UpdatedAt  time.Time
	EndedAt    time.Time
}

// Role is as whom the agent talks: empty for the author, a reviewer's name for theirs.
// Each has sessions of their own, whatever the agent.
func (u Turn) Role() string {
	if u.Kind == KindReview {
		return u.Reviewer
	}
	return ""
}

// Begun reports whether the turn had its first effect, given its actions. A push that was
// refused is none.
func (u Turn) Begun(actions []Action) bool {
	return u.Step == StepPushed || u.Step == StepApplied || slices.ContainsFunc(actions, func(a Action) bool {
		refused := a.Kind == ActionPush && a.State == ActionVoid
		return !refused && (a.Sends > 0 || a.State == ActionApplied)
	})
}

// Usage is what an agent's run consumed.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// Add sums two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{SumCounts(u.InputTokens, o.InputTokens), SumCounts(u.OutputTokens, o.OutputTokens), u.CostUSD + o.CostUSD}
}
