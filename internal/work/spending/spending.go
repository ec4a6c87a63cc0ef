package spending

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Sum is what some turns took together.
type Sum struct {
	Turns   int // as budgets count them: each attempt is one
	Begun   int // turns that these were attempts of
	Rounds  int // of feedback: turns that answered people
	CostUSD float64
	Unknown int // runs of which it is not known what they used
}

// Of sums up what turns took.
func Of(turns []work.Spent) Sum {
	var s Sum
	for _, t := range turns {
		s.Turns += t.Turns()
		s.CostUSD += t.CostUSD
		s.Unknown += t.Unknown
		s.Begun++
		if AnswersPeople(t.Kind) {
			s.Rounds++
		}
	}
	return s
}

// AnswersPeople reports whether turns of a kind answer people on a pull request.
func AnswersPeople(k work.Kind) bool {
	return k == work.KindDesignFeedback || k == work.KindImplementationFeedback
}

// Overspent says which of an item's budgets leaves nothing for one more turn of
// a kind; empty when none does.
func Overspent(s Sum, kind work.Kind, b work.Budgets) string {
	answers := AnswersPeople(kind)
	switch {
	case b.TurnsPerItem > 0 && s.Turns >= b.TurnsPerItem:
		return fmt.Sprintf("it has had %s; max_turns_per_item is %d", s.tries(), b.TurnsPerItem)
	case b.CostPerItem > 0 && s.CostUSD >= b.CostPerItem:
		return fmt.Sprintf("its agents have cost %.2f USD; max_cost_per_item_usd is %.2f", s.CostUSD, b.CostPerItem)
	case answers && b.FeedbackRounds > 0 && s.Rounds >= b.FeedbackRounds:
		return fmt.Sprintf("comments were answered in %s; max_feedback_rounds is %d", work.Count(s.Rounds, "turn"), b.FeedbackRounds)
	}
	return ""
}

// tries says how often its agents were set to work.
func (s Sum) tries() string {
	if s.Turns == s.Begun {
		return work.Count(s.Turns, "turn")
	}
	return work.Count(s.Begun, "turn") + " in " + work.Count(s.Turns, "attempt")
}

// AnotherAllowance is the next step after a budget is spent. A comment is none: who
// comments without end may be a program, and one that is an allowed user.
const AnotherAllowance = "comment `/mergexo retry`, or take the label away and set it again; both reset its budgets"
