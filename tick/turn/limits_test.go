package turn

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestACostThatCannotBeCountsAsWhatAnItemMayCost(t *testing.T) {
	for name, c := range map[string]struct {
		budgets    work.Budgets
		told, want float64
	}{
		"honest":                 {work.Budgets{CostPerItem: 25, CostPerTurn: 20, CostPerDay: 100}, 24, 24},
		"forged":                 {work.Budgets{CostPerItem: 25, CostPerTurn: 20, CostPerDay: 100}, 1e6, 25},
		"a turn may cost more":   {work.Budgets{CostPerItem: 5, CostPerTurn: 20, CostPerDay: 100}, 1e6, 20},
		"only a day has a limit": {work.Budgets{CostPerDay: 100}, 1e6, 50},
		"nothing has one":        {work.Budgets{}, 1e6, 1e6},
		"less than nothing":      {work.Budgets{CostPerItem: 25}, -1, 0},
		"not a number":           {work.Budgets{CostPerItem: 25}, math.NaN(), 0},
		"not a number, no limit": {work.Budgets{}, math.NaN(), 0},
		"infinite":               {work.Budgets{CostPerItem: 25}, math.Inf(1), 25},
		"infinitely less":        {work.Budgets{CostPerItem: 25}, math.Inf(-1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p := &runner{Env: &env.Env{Config: &config.Config{Runtime: config.Runtime{Budgets: c.budgets}}, Log: slog.New(slog.NewTextHandler(&log, nil))}}
			got, believed := p.plausible(t.Context(), nil, work.Run{ID: 7}, work.Usage{InputTokens: 3, CostUSD: c.told})
			if got != (work.Usage{InputTokens: 3, CostUSD: c.want}) {
				t.Errorf("got %+v", got)
			}
			if believed != (c.told == c.want) {
				t.Errorf("believed: %v", believed)
			}
			if named := strings.Contains(log.String(), "run=7"); named == (c.told == c.want) {
				t.Errorf("the log: %q", log.String())
			}
		})
	}
}

func TestLimitsOfATurn(t *testing.T) {
	for name, c := range map[string]struct {
		used work.Usage
		b    work.Budgets
		want string
	}{
		"no limits":    {work.Usage{InputTokens: math.MaxInt64, OutputTokens: 9, CostUSD: 1e6}, work.Budgets{}, ""},
		"below both":   {work.Usage{InputTokens: 90, OutputTokens: 9, CostUSD: 4.99}, work.Budgets{CostPerTurn: 5, TokensPerTurn: 100}, ""},
		"cost":         {work.Usage{CostUSD: 5}, work.Budgets{CostPerTurn: 5}, "this turn has cost 5.00 USD; max_cost_per_turn_usd is 5.00"},
		"tokens":       {work.Usage{InputTokens: 90, OutputTokens: 10}, work.Budgets{TokensPerTurn: 100}, "this turn has used 100 tokens, and a turn has 100"},
		"no wrapround": {work.Usage{InputTokens: math.MaxInt64, OutputTokens: 9}, work.Budgets{TokensPerTurn: 100}, "this turn has used 9223372036854775808 tokens, and a turn has 100"},
	} {
		if got := strings.TrimPrefix(explain.What(overLimit(c.used, c.b), explain.Place{Spending: true}), "its agent is not run again: "); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A turn about to run counts once it runs. One that ran counts each attempt.
func TestWhatIsSpentBeforeARun(t *testing.T) {
	own := work.Turn{ID: 3, Kind: work.KindImplementationFeedback}
	others := []work.Spent{
		{Turn: 1, Kind: work.KindBugfixStart, Attempts: 2, CostUSD: 1},
		{Turn: 2, Kind: work.KindImplementationFeedback, Attempts: 1, CostUSD: 2},
	}
	for name, c := range map[string]struct {
		own  work.Spent
		want spending.Sum
	}{
		"new":     {work.Spent{Turn: 3, Kind: own.Kind}, spending.Sum{Turns: 3, Begun: 2, Rounds: 1, CostUSD: 3}},
		"retried": {work.Spent{Turn: 3, Kind: own.Kind, Attempts: 2, CostUSD: 4}, spending.Sum{Turns: 5, Begun: 3, Rounds: 1, CostUSD: 7}},
	} {
		if got := spentBefore(own, append(others[:2:2], c.own)); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
