package tick

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// waitPerPriority is the waiting time that one step of priority is worth. So a waiting turn is
// overtaken only by turns that come within that time, and the order of two waiting turns never
// changes.
const waitPerPriority = time.Hour

// order puts the planned turns of all repositories in line: round robin over repositories and,
// within one, between feedback and new work; there by priority, raised by waiting, then the oldest
// first. The one served longest ago is next. So while a turn waits, no other repository gets more
// than one start for each start of its own repository, plus one.
func order(plans []plan.Plan) []plan.Turn {
	var queues []*queue
	var last int64
	for _, p := range plans {
		if turns := p.Turns(); len(turns) > 0 {
			q := newQueue(p.Served, turns)
			queues = append(queues, q)
			last = max(last, q.served())
		}
	}
	var out []plan.Turn
	for {
		queues = slices.DeleteFunc(queues, func(q *queue) bool { return q.next() == nil })
		if len(queues) == 0 {
			return out
		}
		last++
		out = append(out, slices.MinFunc(queues, beforeQueue).take(last))
	}
}

// queue has the waiting turns of one repository in two lines.
type queue struct{ feedback, fresh line }

// line has the waiting turns of one kind, the next one first.
type line struct {
	turns  []plan.Turn
	served int64
}

func newQueue(served known.RoundRobin, turns []plan.Turn) *queue {
	q := &queue{feedback: line{served: served.Feedback}, fresh: line{served: served.Fresh}}
	for _, t := range turns {
		if t.Kind.Start() {
			q.fresh.turns = append(q.fresh.turns, t)
		} else {
			q.feedback.turns = append(q.feedback.turns, t)
		}
	}
	sorted.By(q.feedback.turns, byUrgency)
	sorted.By(q.fresh.turns, byUrgency)
	return q
}

func byUrgency(a, b plan.Turn) int {
	if d := effectiveSince(a).Compare(effectiveSince(b)); d != 0 {
		return d
	}
	if d := a.Since.Compare(b.Since); d != 0 {
		return d
	}
	return a.Number - b.Number
}

// effectiveSince returns since when a turn counts as waiting: waitPerPriority earlier for each step
// of its priority.
func effectiveSince(t plan.Turn) time.Time {
	return t.Since.Add(-time.Duration(t.Item.Priority) * waitPerPriority)
}

func (q *queue) served() int64 { return max(q.feedback.served, q.fresh.served) }

// next returns the line to serve next; nil: nothing waits.
func (q *queue) next() *line {
	switch {
	case len(q.feedback.turns) == 0 && len(q.fresh.turns) == 0:
		return nil
	case len(q.fresh.turns) == 0, len(q.feedback.turns) > 0 && beforeLine(&q.feedback, &q.fresh) <= 0:
		return &q.feedback
	}
	return &q.fresh
}

func beforeLine(a, b *line) int { return before(a.served, b.served, a.turns[0], b.turns[0]) }

func beforeQueue(a, b *queue) int {
	return before(a.served(), b.served(), a.next().turns[0], b.next().turns[0])
}

// before compares when two were last served; if equal, how long their first turns have waited.
func before(servedA, servedB int64, a, b plan.Turn) int {
	switch {
	case servedA < servedB:
		return -1
	case servedA > servedB:
		return 1
	}
	return a.Since.Compare(b.Since)
}

// take removes the next turn and marks its line as served at-th.
func (q *queue) take(at int64) plan.Turn {
	l := q.next()
	t := l.turns[0]
	l.turns, l.served = l.turns[1:], at
	return t
}
