package work

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is the kind of a turn, and of its prompt.
type Kind string

// Words is the kind in a sentence.
func (k Kind) Words() string { return strings.ReplaceAll(string(k), "_", " ") }

// The kinds of turn.
const (
	KindDesignStart            Kind = "design_start"
	KindDesignFeedback         Kind = "design_feedback"
	KindImplementationStart    Kind = "implementation_start"
	KindImplementationFeedback Kind = "implementation_feedback"
	KindBugfixStart            Kind = "bugfix_start"
	KindSmallJobStart          Kind = "small_job_start"
	KindRoadmapStart           Kind = "roadmap_start"
	KindFix                    Kind = "fix"
	KindReview                 Kind = "review"
)

// Kinds lists every kind of turn.
func Kinds() []Kind {
	return []Kind{
		KindDesignStart, KindDesignFeedback, KindImplementationStart, KindImplementationFeedback, KindBugfixStart, KindSmallJobStart,
		KindRoadmapStart, KindFix, KindReview,
	}
}

// Start reports whether the turn opens a pull request.
func (k Kind) Start() bool {
	switch k {
	case KindDesignStart, KindImplementationStart, KindBugfixStart, KindSmallJobStart, KindRoadmapStart:
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

// Document reports whether the turn's file is a document that we write from the answer.
func (k Kind) Document() bool { return k == KindDesignStart || k == KindRoadmapStart }

// Mode returns the mode of a kind. We write documents from the answer, and a review only reports:
// neither agent changes files.
func (k Kind) Mode() Mode {
	switch k {
	case KindDesignStart, KindRoadmapStart, KindReview:
		return ModeRead
	case KindDesignFeedback, KindImplementationStart, KindImplementationFeedback, KindBugfixStart, KindSmallJobStart, KindFix:
		return ModeWrite
	}
	return ModeRead
}

// Step is how far a turn has come. Steps are stored.
type Step string

// The steps of a turn. The last four end it.
const (
	StepClaimed    Step = "claimed"  // claimed, and its agent has not answered
	StepAnswered   Step = "answered" // answer and commit are stored, nothing was sent
	StepPushed     Step = "pushed"   // the commit is reachable from the remote head
	StepApplied    Step = "applied"  // every required action was seen on GitHub
	StepDone       Step = "done"     // events processed, session cached
	StepSuperseded Step = "superseded"
	StepFailed     Step = "failed"
	StepCancelled  Step = "cancelled"
)

// Ended reports whether the turn needs no more work.
func (s Step) Ended() bool {
	switch s {
	case StepDone, StepSuperseded, StepFailed, StepCancelled:
		return true
	case StepClaimed, StepAnswered, StepPushed, StepApplied:
		return false
	}
	return false
}

// MayMoveTo reports whether a turn may move from s to another step. A turn goes back only if its
// answer's commit is lost, and only before its push. After the push its agent never runs again, and
// the turn is never given up.
func (s Step) MayMoveTo(to Step) bool {
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

// Turn is one agent invocation for one work item, with its result.
type Turn struct {
	ID       int64
	RepoID   int64
	ItemID   int64
	Number   int // the issue for a start turn, the pull request for feedback
	Kind     Kind
	Reviewer string // whose review it makes, or whose findings it fixes; empty: neither
	Key      string // see TurnKey; stored when the turn is claimed, never computed again
	Step     Step
	Epoch    string // of the pass that has it; see store.Claim
	Slot     int
	Reason   string // why the plan chose it
	Blocked  bool   // parked until a person acts; Step is how far it came

	Branch string // empty until restore chooses it
	Base   string // base branch
	Head   string // commit on which the agent works; empty until restored

	Machine   string   // that holds it, or held it last
	Agent     string   // name in the config
	InsteadOf string   // the agent in whose place Agent works, because that one's provider is out; empty: none
	Sandbox   Sandbox  // the sandbox of its last run
	Request   []byte   // JSON document with prompt and context, stored before the first run
	Attempts  int      // failed attempts and the current one, over all steps
	Runs      int      // agent invocations, repairs included
	Answer    []byte   // validated JSON; nil until answered
	Commit    string   // oid; empty if the agent changed nothing
	Tested    string   // the required tests that the commit passed; empty: none ran
	Session   string   // the provider's session after the run
	Used      UsageSum // of its ended runs
	EventKeys []string // sorted

	NotBefore  time.Time // the turn is not tried before
	WaitReason Reason
	LastError  string
	ClaimedAt  time.Time
	UpdatedAt  time.Time
	EndedAt    time.Time
}

// Role is the role in which the agent speaks: empty for the author, otherwise the reviewer's name.
// Each role has its own sessions, even with the same agent.
func (u Turn) Role() string {
	if u.Kind == KindReview {
		return u.Reviewer
	}
	return ""
}

// Begun reports whether the turn had its first effect, given its actions. A refused push is no
// effect.
func (u Turn) Begun(actions []Action) bool {
	return u.Step == StepPushed || u.Step == StepApplied || slices.ContainsFunc(actions, func(a Action) bool {
		refused := a.Kind == ActionPush && a.State == ActionVoid
		return !refused && (a.Sends > 0 || a.State == ActionApplied)
	})
}

// Usage is what agent runs consumed, as far as it is known.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// Known tells which parts of a run's usage are known. The zero value is a run of which nothing is
// known: a count that nobody reported is not zero.
type Known struct{ Tokens, Cost bool }

// UsageSum is the usage of several runs. What is unknown of some runs is not in the sums.
type UsageSum struct {
	Usage
	UnknownTokens int // runs with unknown tokens
	UnknownCost   int // runs with unknown cost
}

// Add adds a run.
func (s UsageSum) Add(u Usage, k Known) UsageSum {
	s.Usage = s.Usage.Add(u)
	if !k.Tokens {
		s.UnknownTokens++
	}
	if !k.Cost {
		s.UnknownCost++
	}
	return s
}

// Join adds another sum.
func (s UsageSum) Join(o UsageSum) UsageSum {
	return UsageSum{s.Usage.Add(o.Usage), s.UnknownTokens + o.UnknownTokens, s.UnknownCost + o.UnknownCost}
}

// AtLeast formats a sum of which unknown parts are missing: "at least 1.20 USD". A sum of zero, which
// may have parts that are known to be zero, names what is missing: "cost of 1 run unknown". The name
// is that of the sum. All texts about usage are formed here.
func AtLeast[N int64 | float64](sum N, unknown int, name string, format func(N) string) string {
	switch {
	case unknown == 0:
		return format(sum)
	case sum == 0:
		return fmt.Sprintf("%s of %s unknown", name, Count(unknown, "run"))
	}
	return "at least " + format(sum)
}

// KnownPart returns a sum of which unknown parts are missing, for JSON; nil: nothing of it is known.
func KnownPart[N int64 | float64](sum N, unknown int) *N {
	if unknown > 0 && sum == 0 {
		return nil
	}
	return &sum
}

// Add sums two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{SumCounts(u.InputTokens, o.InputTokens), SumCounts(u.OutputTokens, o.OutputTokens), u.CostUSD + o.CostUSD}
}

// Holder is the content of a slot's lock file: the turn that runs in the slot. It is valid only
// while the lock is held.
type Holder struct {
	Repo   string    `json:"repo"` // host/owner/name
	Number int       `json:"number"`
	Issue  int       `json:"issue"`
	Turn   string    `json:"turn"`
	Since  time.Time `json:"since,omitzero"` // by this machine's clock
}

// The trailers of our commits.
const (
	TrailerTurn    = "Mergexo-Turn"
	TrailerHandled = "Mergexo-Handled"
	TrailerReview  = "Mergexo-Review" // the review that a commit answers: its reviewer and GitHub's id
)

// turnDigits is the length of a turn's key in a commit: 64 bits are unique.
const turnDigits = 16

// ShortTurn returns the form of a turn's key in commits.
func ShortTurn(key string) string { return key[:min(len(key), turnDigits)] }

// TrailersOf parses the trailers of a commit's message: the beginning of the key of the turn that
// made it (empty: none did), and the events that it handles.
func TrailersOf(message string) (turn string, handled []string) {
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, TrailerTurn+": "); ok {
			turn = v
		}
		if v, ok := strings.CutPrefix(line, TrailerHandled+": "); ok {
			handled = append(handled, v)
		}
	}
	return turn, handled
}
