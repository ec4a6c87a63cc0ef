package spending

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

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
