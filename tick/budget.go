package tick

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Budgets keep what goes round in circles from going on while nobody looks. They
// are looked at when a turn is planned and again before each run of its agent,
// whatever it waited for: an item or a day may cost more than its budget by the
// runs that were under way.

// Spending is what some turns took together.
type Spending struct {
	Turns   int // as budgets count them: each attempt is one
	Begun   int // turns that these were attempts of
	Rounds  int // of feedback: turns that answered people
	CostUSD float64
	Unknown int // runs of which it is not known what they used
}

// SpendingOf sums up what turns took.
func SpendingOf(turns []work.Spent) Spending {
	var s Spending
	for _, t := range turns {
		s.Turns += t.Turns()
		s.CostUSD += t.CostUSD
		s.Unknown += t.Unknown
		s.Begun++
		if answersPeople(t.Kind) {
			s.Rounds++
		}
	}
	return s
}

// answersPeople reports whether turns of a kind answer people on a pull request.
func answersPeople(k work.Kind) bool {
	return k == work.KindDesignFeedback || k == work.KindImplementationFeedback
}

// overspent says which of an item's budgets leaves nothing for one more turn of
// a kind; empty when none does.
func overspent(s Spending, kind work.Kind, b config.Budgets) string {
	answers := answersPeople(kind)
	switch {
	case b.TurnsPerItem > 0 && s.Turns >= b.TurnsPerItem:
		return fmt.Sprintf("it has had %s; max_turns_per_item is %d", s.tries(), b.TurnsPerItem)
	case b.CostPerItem > 0 && s.CostUSD >= b.CostPerItem:
		return fmt.Sprintf("its agents have cost %.2f USD; max_cost_per_item_usd is %.2f", s.CostUSD, b.CostPerItem)
	case answers && b.FeedbackRounds > 0 && s.Rounds >= b.FeedbackRounds:
		return fmt.Sprintf("comments were answered in %s; max_feedback_rounds is %d", count(s.Rounds, "turn"), b.FeedbackRounds)
	}
	return ""
}

// tries says how often its agents were set to work.
func (s Spending) tries() string {
	if s.Turns == s.Begun {
		return count(s.Turns, "turn")
	}
	return count(s.Begun, "turn") + " in " + count(s.Turns, "attempt")
}

// anotherAllowance is the way on after a budget is spent. A comment is none: who
// comments without end may be a program, and one that is an allowed user.
const anotherAllowance = "comment `/mergexo retry`, or take the label away and set it again; both reset its budgets"

// affords reports whether the item's budgets leave something for one more turn,
// and stops the item when they do not.
func (r *router) affords(kind work.Kind) bool {
	why := overspent(SpendingOf(r.spent), kind, r.v.Policy.Budgets)
	if why == "" {
		return true
	}
	r.stop(why, anotherAllowance)
	return false
}

// renew gives an item that its budgets stopped as much again, when its label was
// set anew since then.
func (r *router) renew() {
	anew := func(e work.Event) bool { return e.Kind == work.EventLabelled && e.SeenAt.After(r.item.Since) }
	kind := r.item.Flow.StartKind()
	if r.hasPull {
		kind = r.item.Flow.FeedbackKind()
	}
	if r.item.State != work.StateBlocked || overspent(SpendingOf(r.spent), kind, r.v.Policy.Budgets) == "" || !slices.ContainsFunc(r.events, anew) {
		return
	}
	r.p.Renewed = append(r.p.Renewed, r.item.ID)
	r.spent = nil
	if r.hasPull {
		r.move(work.CauseResumed, work.StateAwaitingFeedback, "the label was set again: its budgets are reset")
		r.item.State = work.StateAwaitingFeedback
	}
}

// How often in a row turns may try to mend the same pull request without anybody
// saying a word to it: at all, and with the same checks red each time.
const (
	mostMends     = 3
	mostSameMends = 2
)

// noProgress says why one more turn would not mend what the last ones did not;
// empty while it may. Those that mended what they were for are no circle: what a
// person pushed on top of them is red for another reason.
func (r *router) noProgress(events []work.Event) string {
	var row []work.Spent // newest first
	for _, s := range slices.Backward(r.spent) {
		if s.Kind != work.KindFix {
			break
		}
		if s.Step == work.StepDone {
			row = append(row, s)
		}
	}
	now := findings(events)
	head, same := r.pull.HeadOID, 0
	for _, s := range row {
		left := s.Commit
		if left == "" {
			left = s.Head
		}
		if len(now) == 0 || left != head || !slices.Equal(r.v.Findings[s.Turn], now) {
			break
		}
		head = s.Head
		same++
	}
	switch {
	case same >= mostSameMends:
		return fmt.Sprintf("no progress: %d turns in a row were to mend the same red checks, and they are red again: %s", same, strings.Join(now, ", "))
	case len(row) >= mostMends:
		return fmt.Sprintf("no progress: %d turns in a row have tried to mend its checks or conflicts, and it is not mended", len(row))
	}
	return ""
}

// findings are the names of the red checks that events tell of, sorted.
func findings(events []work.Event) []string {
	var names []string
	for _, e := range events {
		if e.Kind == work.EventCheck {
			names = append(names, checkNames(e)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Day is what the turns that began in the last 24 hours, over all repositories,
// leave of the day's budgets.
type Day struct {
	Spending
	Left  int       // turns that may still begin
	Until time.Time // none may before; zero while some may
	Why   string    // none may
}

const day = 24 * time.Hour

// DayOf weighs what was begun in the last 24 hours, oldest first, against the
// day's budgets.
func DayOf(turns []work.Spent, b config.Budgets, now time.Time) Day {
	d := Day{Spending: SpendingOf(turns), Left: math.MaxInt}
	if b.TurnsPerDay > 0 {
		d.Left = max(0, b.TurnsPerDay-d.Turns)
		if d.Left == 0 {
			d.Until = fewer(turns, d.Turns, b.TurnsPerDay)
			d.Why = fmt.Sprintf("%s began in the last 24 hours; max_turns_per_day is %d", count(d.Turns, "turn"), b.TurnsPerDay)
		}
	}
	if b.CostPerDay > 0 && d.CostUSD >= b.CostPerDay {
		d.Left = 0
		why := fmt.Sprintf("the turns of the last 24 hours have cost %.2f USD; max_cost_per_day_usd is %.2f", d.CostUSD, b.CostPerDay)
		if until := cheaper(turns, d.CostUSD, b.CostPerDay); until.After(d.Until) {
			d.Until, d.Why = until, why
		}
	}
	return d
}

// fewer is when so many turns have aged that the rest are fewer than a limit.
func fewer(turns []work.Spent, n, limit int) time.Time {
	var at time.Time
	for _, t := range turns {
		if n < limit {
			break
		}
		n -= t.Turns()
		at = t.At
	}
	return at.Add(day)
}

// cheaper is when so much has aged that the rest is below a limit.
func cheaper(turns []work.Spent, cost, limit float64) time.Time {
	var at time.Time
	for _, t := range turns {
		if cost < limit {
			break
		}
		cost -= t.CostUSD
		at = t.At
	}
	return at.Add(day)
}

// Says tells people that nothing is begun today, and until when; empty while
// something may be.
func (d Day) Says() string {
	if d.Why == "" {
		return ""
	}
	return fmt.Sprintf("no turn begins before %s: %s", work.Stamp(d.Until), d.Why)
}

// hold lets the planned turns wait when the day's budgets are spent. Nothing
// stops, and no attempt is used: time alone lets them go on.
func (p *Plan) hold(d Day) {
	if d.Why == "" {
		return
	}
	p.Held, p.Turns = p.Turns, nil
	for i, l := range p.Lines {
		if l.What == "turn" {
			p.Lines[i].What, p.Lines[i].Reason = "wait", l.Reason+"; "+d.Says()
		}
	}
}
