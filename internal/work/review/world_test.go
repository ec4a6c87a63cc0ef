package review

import (
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// world is one pull request, with what agents, people and losses do to it. It does what
// Decide asks for, as the passes do.
type world struct {
	f      Facts
	p      Policy
	clock  time.Time
	heads  int
	posted map[string]int // reviews by reviewer and head, agents only
	last   Choice
}

var (
	quinn = Reviewer{Name: "quinn", MayCallIn: []string{"sam"}}
	priya = Reviewer{Name: "priya"}
	sam   = Reviewer{Name: "sam"}
	grace = Reviewer{Name: "grace", Human: true, Login: "grace"}
)

func newWorld(order ...Reviewer) *world {
	w := &world{
		p:      Policy{Order: order, Pool: map[string]Reviewer{"sam": sam, "quinn": quinn, "priya": priya, "grace": grace}, MaxFixCycles: 2, Blocking: Major},
		clock:  time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		posted: map[string]int{},
	}
	w.f = Facts{Number: 7, State: work.PullOpen}
	w.push()
	return w
}

func (w *world) now() time.Time {
	w.clock = w.clock.Add(time.Minute)
	return w.clock
}

func (w *world) push() {
	w.heads++
	w.f.Head, w.f.Requested = fmt.Sprintf("%040d", w.heads), nil
}

// pass decides, and stores what is decided.
func (w *world) pass() Choice {
	c := decide(w.f, w.p)
	w.f.Retried = false
	r := &w.f.Record
	if c.moves(*r) {
		r.Since = w.now()
	}
	r.State, r.Head, r.Reviewer, r.Epoch, r.Cycle, r.Why, r.MergeType = c.State, w.f.Head, c.Reviewer.Name, c.Epoch, c.Cycle, c.Why, c.MergeType
	if c.Ask == AskRequest {
		w.f.Requested = append(w.f.Requested, c.Reviewer.Name)
	}
	w.last = c
	return c
}

// says gives a verdict of a head, whatever the head is by then.
func (w *world) says(name, head string, d Decision, calls ...string) Verdict {
	r, _ := w.p.ReviewerOf(name)
	v := Verdict{
		ID: int64(len(w.f.Verdicts) + 1), ReviewID: int64(4000 + len(w.f.Verdicts)), Reviewer: name, Human: r.Human, Head: head,
		Epoch: w.last.Epoch, Cycle: w.last.Cycle, Decision: d, Validity: Counts, CalledIn: calls, At: w.now(),
	}
	in, _ := CallIn(w.p, v, w.f.Inserted)
	w.f.Inserted = append(w.f.Inserted, in...)
	w.f.Verdicts = append(w.f.Verdicts, v)
	if !r.Human {
		w.posted[name+" "+head]++
	}
	return v
}

// finds adds something to a verdict.
func (w *world) finds(v Verdict, id string, s Severity) {
	w.f.Findings = append(w.f.Findings, Finding{ID: id, VerdictID: v.ID, Reviewer: v.Reviewer, Head: v.Head, Path: id + ".go", Severity: s})
}

// fixed ends the fix that was asked for.
func (w *world) fixed(o FixOutcome) {
	head := w.f.Head
	if o == FixPushed {
		w.push()
	}
	w.f.Fixes = append(w.f.Fixes, Fix{
		Reviewer: w.last.Reviewer.Name, ReviewID: w.last.Rejected[0].ReviewID, Epoch: w.last.Epoch, Cycle: w.last.Cycle, Head: head, Commit: w.f.Head, Outcome: o, At: w.now(),
	})
}

// loseDatabase leaves what GitHub has: verdicts in their markers, and what the comment
// about a stop says.
func (w *world) loseDatabase() {
	for i, v := range w.f.Verdicts {
		if v.Human {
			continue // people's are read from what GitHub says of them
		}
		read, _, _, ok := ParseMark(Mark(v, nil, nil))
		if !ok {
			panic("a marker that cannot be read")
		}
		read.ID, read.ReviewID, read.Validity, read.At = v.ID, v.ReviewID, v.Validity, v.At
		w.f.Verdicts[i] = read
	}
	stop := w.f.Record
	w.f.Record = Record{Epoch: stop.Epoch}
	if stop.State.Stopped() {
		w.f.Record.State, w.f.Record.Why, w.f.Record.Since = stop.State, stop.Why, stop.Since
	}
}

// path walks the table.
func path(from State, events []Event) (State, bool) {
	s := from
	for _, e := range events {
		to, ok := next(s, e)
		if !ok {
			return s, false
		}
		s = to
	}
	return s, true
}

// approvedBy reports whether somebody has a verdict that approves the head as it is.
func (w *world) approvedBy(name string) bool {
	return slices.ContainsFunc(w.f.Verdicts, func(v Verdict) bool {
		return v.Reviewer == name && v.Head == w.f.Head && v.Decision == Approve && v.Validity != TakenBack
	})
}

// events lists every event.
func events() []Event {
	return []Event{
		EventOpened, EventDue, EventApproved, EventRejected, EventComplete, EventWanting, EventPushed, EventFixed, EventUnfixed,
		EventExhausted, EventTakenBack, EventFailed, EventRetried, EventDecided, EventMerged, EventClosed, EventReopened, EventOff,
	}
}
