package plan

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Plan is what a pass does in one repository.
type Plan struct {
	Repo      work.Repo
	Served    known.RoundRobin // when its turns were last started
	Decisions []Decision       // in the order in which they were made

	Unfold []roadmap.Facts // of the roadmaps about which it decided

	Panics []*work.PanicError // of the items that could not be planned

	waiting []Turn  // implementations that may start, to be compared by score
	below   []below // what may start below roadmaps
}

// Decision is a change to store, a turn to claim, or a reason to wait.
type Decision interface{ Line() change.Line }

// Wait is why nothing is done. It is not stored.
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

// waits returns why work items wait, by their ids.
func (p Plan) waits() map[int64][]work.Reason {
	waits := map[int64][]work.Reason{}
	for _, l := range p.Lines() {
		if l.What == "wait" {
			waits[l.Item] = append(waits[l.Item], l.Why...)
		}
	}
	return waits
}

// Hold makes planned turns wait: those for which why returns a reason.
func (p *Plan) Hold(why func(Turn) work.Reason) {
	for i, decision := range p.Decisions {
		if t, ok := decision.(Turn); ok && t.Held.None() {
			t.Held = why(t)
			p.Decisions[i] = t
		}
	}
}

func (p *Plan) add(decisions ...Decision) { p.Decisions = append(p.Decisions, decisions...) }

// Turn is a turn to claim.
type Turn struct {
	Item     work.Item
	Kind     work.Kind
	Reviewer string // whose review it makes, or whose findings it fixes; empty: neither
	Number   int
	Branch   string // empty for a start
	Base     string
	Head     string // as GitHub's API shows it; restore reads the remote
	Events   []work.Event
	Since    time.Time // when the oldest event began to wait
	Reason   string
	Score    *work.Score // of an implementation
	Held     work.Reason // why it may not start yet; none: it may

	Unheard []work.Event // comments with which a start resumes

	Trigger work.Event // the event for the turn if it is not stored yet; it is stored with the turn
}

// Line returns the turn's line: it starts, or why not.
func (t Turn) Line() change.Line {
	l := change.Line{Item: t.Item.ID, Number: t.Number, Kind: t.Kind, What: "turn", Reason: t.Reason}
	if !t.Held.None() {
		said := explain.What(t.Held, explain.Place{Spending: true})
		if t.Held.Kind != work.WhyNoSlot && t.Held.Kind != work.WhyCollides {
			said = t.Reason + "; " + said
		}
		l.What, l.Reason, l.Code, l.Why = "wait", said, t.Held.Kind, []work.Reason{t.Held}
	}
	return l
}
