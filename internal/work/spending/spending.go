package spending

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Sum is what several turns used.
type Sum struct {
	Turns   int // as budgets count them: each attempt counts
	Begun   int // turns that were begun; a turn with several attempts counts once
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

// Tokens are counts of tokens, by the categories that providers charge for.
type Tokens struct {
	Input      int64 // input that was neither read from nor written to a cache
	CacheRead  int64
	CacheWrite int64
	Output     int64
}

// Add sums two counts.
func (t Tokens) Add(o Tokens) Tokens {
	return Tokens{work.SumCounts(t.Input, o.Input), work.SumCounts(t.CacheRead, o.CacheRead), work.SumCounts(t.CacheWrite, o.CacheWrite), work.SumCounts(t.Output, o.Output)}
}

// Most returns the larger of each count, for two reports of the same usage of which either may be
// too early.
func (t Tokens) Most(o Tokens) Tokens {
	return Tokens{max(t.Input, o.Input), max(t.CacheRead, o.CacheRead), max(t.CacheWrite, o.CacheWrite), max(t.Output, o.Output)}
}

// Usage returns the usage, with a cost.
func (t Tokens) Usage(cost float64) work.Usage {
	return work.Usage{InputTokens: work.SumCounts(t.Input, t.CacheRead, t.CacheWrite), OutputTokens: t.Output, CostUSD: cost}
}

// Prices are a model's prices, in USD for a million tokens.
type Prices struct{ Input, CacheRead, CacheWrite, Output float64 }

// Cost returns the cost of tokens, in USD.
func (p Prices) Cost(t Tokens) float64 {
	const million = 1e6
	return (float64(t.Input)*p.Input + float64(t.CacheRead)*p.CacheRead + float64(t.CacheWrite)*p.CacheWrite + float64(t.Output)*p.Output) / million
}

// Describe formats what was spent of an item's budgets, in one line. On GitHub, money is false
// unless the config shows costs there.
func (s Sum) Describe(b work.Budgets, money bool) string {
	if !money {
		s.CostUSD = 0
	}
	var notes []string
	if s.Turns > s.Begun {
		notes = append(notes, "attempts count")
	}
	if s.Rounds > 0 {
		notes = append(notes, outOf(s.Rounds, b.FeedbackRounds)+" answered comments")
	}
	line := ofTurns(s.Turns, b.TurnsPerItem)
	if len(notes) > 0 {
		line += " (" + strings.Join(notes, ", ") + ")"
	}
	return line + ofCost(s.CostUSD, b.CostPerItem) + s.unsaid()
}

// unsaid says that the sum is too small if the usage of runs is unknown.
func (s Sum) unsaid() string {
	if s.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("; what %s used is not known", work.Count(s.Unknown, "run"))
}

func ofTurns(n, most int) string {
	if most == 0 {
		return work.Count(n, "turn")
	}
	return fmt.Sprintf("%d of %s", n, work.Count(most, "turn"))
}

func outOf(n, most int) string {
	if most == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, most)
}

// ofCost is empty for agents that report no cost.
func ofCost(cost, most float64) string {
	switch {
	case cost == 0:
		return ""
	case most == 0:
		return fmt.Sprintf(", %.2f USD", cost)
	}
	return fmt.Sprintf(", %.2f of %.2f USD", cost, most)
}
