package spending

import "github.com/mergexo/gh-mergexo/internal/work"

// Sum is what several turns used.
type Sum struct {
	Turns   int // as budgets count them: each attempt counts
	Begun   int // turns to which the attempts belong
	Rounds  int // turns that answered people
	CostUSD float64
	Unknown int // runs with unknown usage
}

// Of sums what turns used.
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

// Overspent returns which budget of an item does not allow another turn of a kind; zero: all do.
func Overspent(s Sum, kind work.Kind, b work.Budgets) work.Reason {
	over := func(budget string, used, limit float64) work.Reason {
		return work.Reason{Kind: work.WhyItemBudget, Name: budget, Used: used, Limit: limit, Begun: s.Begun}
	}
	answers := AnswersPeople(kind)
	switch {
	case b.TurnsPerItem > 0 && s.Turns >= b.TurnsPerItem:
		return over(work.MaxTurnsPerItem, float64(s.Turns), float64(b.TurnsPerItem))
	case b.CostPerItem > 0 && s.CostUSD >= b.CostPerItem:
		return over(work.MaxCostPerItem, s.CostUSD, b.CostPerItem)
	case answers && b.FeedbackRounds > 0 && s.Rounds >= b.FeedbackRounds:
		return over(work.MaxFeedbackRounds, float64(s.Rounds), float64(b.FeedbackRounds))
	}
	return work.Reason{}
}
