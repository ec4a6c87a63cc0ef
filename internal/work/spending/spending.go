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

	UnknownCost int // runs with unknown cost
}

// Of sums what turns used.
func Of(turns []work.Spent) Sum {
	var s Sum
	for _, t := range turns {
		s.Turns += t.Turns()
		s.CostUSD += t.CostUSD
		s.UnknownCost += t.UnknownCost
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
		r := over(work.MaxCostPerItem, s.CostUSD, b.CostPerItem)
		r.Count = s.UnknownCost
		return r
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
	if money {
		line += s.ofCost(b.CostPerItem)
	}
	return line
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

// ofCost is empty if nothing was paid. A limit is named beside an unknown cost, too: it cannot hold.
func (s Sum) ofCost(most float64) string {
	switch {
	case s.UnknownCost == 0 && s.CostUSD == 0:
		return ""
	case most == 0:
		return ", " + Cost(s.CostUSD, s.UnknownCost)
	case s.CostUSD == 0:
		return fmt.Sprintf(", %s (limit %.2f USD)", Cost(0, s.UnknownCost), most)
	}
	return ", " + work.AtLeast(s.CostUSD, s.UnknownCost, "cost", func(usd float64) string { return fmt.Sprintf("%.2f of %.2f USD", usd, most) })
}

// Cost formats a cost of which the runs with unknown cost are missing.
func Cost(usd float64, unknown int) string {
	return work.AtLeast(usd, unknown, "cost", func(usd float64) string { return fmt.Sprintf("%.2f USD", usd) })
}

// CostWarning says that budgets of cost cannot hold for an agent whose cost is unknown.
const CostWarning = "its cost is unknown, so limits of cost (max_cost…) cannot hold for it"

// CostRemedy says what to do about an unknown cost. Prices help only if the agent's program reports
// its tokens.
func CostRemedy(tokens bool) string {
	const turns = "lower max_turns_per_item and max_turns_per_day in [runtime]"
	if tokens {
		return "set prices in usd_per_million of the agent, or " + turns
	}
	return turns
}
