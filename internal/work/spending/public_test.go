package spending

import (
	"regexp"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Every sentence about a budget is fit for GitHub: it names the budget, and no sum.
func TestNoSumIsPublished(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	b := work.Budgets{TurnsPerItem: 9, FeedbackRounds: 9, CostPerItem: 3.5, TurnsPerDay: 9, CostPerDay: 3.25}
	spent := []work.Spent{{Turn: 1, Kind: work.KindFix, At: at, CostUSD: 4.01}}
	for name, c := range map[string]struct{ text, want string }{
		"item":     {Overspent(Of(spent), work.KindFix, b), "max_cost_per_item_usd in the config is reached"},
		"day":      {DayOf(spent, b, at).String(), "no turn begins before 2026-11-23T10:00:00Z: max_cost_per_day_usd in the config is reached"},
		"so far":   {"- so far: 1 of 9 turns (1 of 9 answered comments), 4.01 of 3.50 USD\n- next: it", "- so far: 1 of 9 turns (1 of 9 answered comments)\n- next: it"},
		"no limit": {"1 turn" + ofCost(4.01, 0), "1 turn"},
		"limit":    {"1 turn" + ofCost(4.01, 3.5), "1 turn"},
		"a turn": {
			"its agent was ended: this turn has cost 4.01 USD; max_cost_per_turn_usd is 3.50. Say more.",
			"its agent was ended: max_cost_per_turn_usd in the config is reached. Say more.",
		},
		"tokens": {
			"its agent was ended: this turn has used 770 tokens; max_tokens_per_turn is 500",
			"its agent was ended: max_tokens_per_turn in the config is reached",
		},
		"no money": {"it has had 9 turns; max_turns_per_item is 9", "it has had 9 turns; max_turns_per_item is 9"},
	} {
		if got := Public(c.text, false); got != c.want || regexp.MustCompile(`USD|tokens$|4\.01|3\.[25]|770`).MatchString(got) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := Public(c.text, true); got != c.text {
			t.Errorf("%s: %q, though the config wants it told", name, got)
		}
	}
}
