package plan

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/score"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Plan is what to do for one repository.
type Plan struct {
	Repo      work.Repo
	Served    known.RoundRobin // which of its turns began last
	Decisions []Decision       // in the order in which they were made

	waiting []Turn // implementations that may begin, to be weighed against one another
}

// Decision is a change to store, a turn to claim, or a reason to wait.
type Decision interface{ Line() change.Line }

// Wait says why nothing is done; nothing is stored of it.
type Wait struct{ change.Words }

// Of returns the decisions of one kind.
func Of[D Decision](p Plan) []D { return of[D](p.Decisions) }

func of[D Decision](decisions []Decision) (all []D) {
	for _, d := range decisions {
		if d, ok := d.(D); ok {
			all = append(all, d)
		}
	}
	return all
}

// Changes returns what to store before turns are claimed.
func (p Plan) Changes() []change.Change { return Of[change.Change](p) }

// Turns returns the turns to claim.
func (p Plan) Turns() []Turn {
	return slices.DeleteFunc(Of[Turn](p), func(t Turn) bool { return !t.Held.None() })
}

// Lines returns the plan in words.
func (p Plan) Lines() (lines []change.Line) {
	for _, d := range p.Decisions {
		if l := d.Line(); l.What != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// Waits returns why work items wait, by their ids.
func (p Plan) Waits() map[int64][]work.Reason {
	waits := map[int64][]work.Reason{}
	for _, l := range p.Lines() {
		if l.What == "wait" {
			waits[l.Item] = append(waits[l.Item], l.Why...)
		}
	}
	return waits
}

func (p *Plan) add(decisions ...Decision) { p.Decisions = append(p.Decisions, decisions...) }

// Turn is a turn to claim.
type Turn struct {
	Item     work.Item
	Kind     work.Kind
	Reviewer string // whose review it makes, or fixes; empty: neither
	Number   int
	Branch   string // empty for a start
	Base     string
	Head     string // as far as GitHub's API knows; restore asks the remote
	Events   []work.Event
	Since    time.Time // when the oldest event began to wait
	Reason   string
	Score    *score.Score // of an implementation
	Held     work.Reason  // why it must not begin yet; none: it may

	Unheard []work.Event // comments that a start resumes with

	Trigger work.Event // what asks for the turn if nothing is stored of that yet: stored with the turn
}

// Line says that the turn begins, or why it does not.
func (t Turn) Line() change.Line {
	l := change.Line{Item: t.Item.ID, Number: t.Number, Kind: t.Kind, What: "turn", Reason: t.Reason, Score: t.Score}
	if !t.Held.None() {
		said := explain.What(t.Held, explain.Place{Spending: true})
		if t.Held.Kind != work.WhyNoSlot && t.Held.Kind != work.WhyCollides {
			said = t.Reason + "; " + said
		}
		l.What, l.Reason, l.Code, l.Why = "wait", said, t.Held.Kind, []work.Reason{t.Held}
	}
	return l
}
