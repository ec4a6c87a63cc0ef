package plan

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/reviewing"
	"github.com/mergexo/gh-mergexo/internal/work/rewritten"
	"github.com/mergexo/gh-mergexo/internal/work/score"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Plan is what to do for one repository, each line with its reason.
type Plan struct {
	Repo     work.Repo
	Turns    []PlannedTurn
	Waiting  []PlannedTurn    // implementations that may begin, to be weighed
	Held     []PlannedTurn    // they would be claimed if the day's budgets were not spent
	Served   known.RoundRobin // whom order has to serve next
	Notices  []work.Action
	Moves    []work.Move
	Finished []Finish
	Resumed  []int64 // blocked turns that a person's comment resumes
	Renewed  []int64 // items whose budgets count again
	Accepted []rewritten.Acceptance
	Pauses   []work.PauseChange // that commands begin and end
	Banners  []work.PauseBanner // what comments do not say yet about who has an item
	Reviews  []ReviewMove       // what becomes of the reviews of pull requests
	Looked   []known.Look       // reviews that are decided, until something changes
	Requests []Request          // of reviews by people
	Verdicts []review.Verdict   // that people gave by commands
	Holds    []Hold             // of reviews, that commands begin and end
	Merges   []PlannedMerge     // of pull requests of ours
	Words    []merging.Word     // that people gave by commands: a head may be merged
	Retried  []int64            // pull requests whose earlier attempts to merge are forgotten
	AtOnce   []int64            // actions of merging that wait no longer after a refusal

	Obeyed    []Obeyed
	Told      []work.Event // commands from the command line, to be remembered
	Cancelled []int64      // turns that are cancelled
	Reread    []int64      // pull requests that are asked about again at once
	TakenUp   []string     // keys of shelved events that are tried again
	Lines     []Line
}

// Empty reports whether the plan writes nothing but turns.
func (p Plan) Empty() bool {
	return len(p.Notices) == 0 && len(p.Moves) == 0 && len(p.Finished) == 0 && len(p.Resumed) == 0 && len(p.Renewed) == 0 && len(p.Accepted) == 0 &&
		len(p.Pauses) == 0 && len(p.Banners) == 0 && len(p.Obeyed) == 0 && len(p.Reviews) == 0 && len(p.Looked) == 0 && len(p.Merges) == 0
}

// Waits says what holds work items back, by their ids.
func (p Plan) Waits() map[int64][]work.Reason {
	waits := map[int64][]work.Reason{}
	for _, l := range p.Lines {
		if l.What == "wait" {
			waits[l.Item] = append(waits[l.Item], l.Why...)
		}
	}
	return waits
}

// PlannedTurn is a turn to be claimed.
type PlannedTurn struct {
	Item     work.Item
	Kind     work.Kind
	Reviewer string // whose review it makes, or fixes; empty: neither
	Number   int
	Branch   string // empty for a start
	Base     string
	Head     string // as far as GitHub's API knows; restore asks the remote
	Events   []work.Event
	Since    time.Time // when the oldest of it began to wait
	Reason   string
	Score    *score.Score // of an implementation

	Unheard []work.Event // comments that a start resumes with

	Trigger work.Event // what asks for it, where nothing is stored of that yet: made with the turn
}

// ReviewMove is what a plan decides about the reviews of a pull request.
type ReviewMove struct {
	Item   int64
	Number int // of the pull request
	reviewing.Step
}

// Request is that a person is asked for a review of a head.
type Request struct {
	Pull     int64
	Reviewer string
	Head     string
}

// Hold is a person's word that the reviews of a pull request are held back, or are no
// more.
type Hold struct {
	Pull int64
	Held *review.Held // nil: it is over
}

// Obeyed is a command that is carried out, for the history.
type Obeyed struct {
	Item    int64 // 0: what it was said on is not worked on
	Number  int
	Command command.Command
	By      string
}

// Finish marks events as processed without a turn.
type Finish struct {
	Events  []int64
	Outcome string
}

// Line is one line of a plan, for people.
type Line struct {
	Item   int64           `json:"-"` // 0: it is about no item
	Number int             `json:"number"`
	Kind   work.Kind       `json:"kind"` // of the turn; empty for what needs none
	What   string          `json:"what"` // turn, wait, leave, notice, move, finish, command, resume, labels, review, merge
	Reason string          `json:"reason"`
	Code   work.ReasonKind `json:"reason_code,omitempty"` // of what waits or is blocked
	Why    []work.Reason   `json:"-"`
	Score  *score.Score    `json:"score,omitempty"` // of an implementation
}
