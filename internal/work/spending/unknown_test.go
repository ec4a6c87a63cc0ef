package spending

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestSumsTellUnknownFromZero(t *testing.T) {
	for _, c := range []struct {
		usd         float64
		unknown     int
		plain, of25 string
	}{
		{0, 0, "1 turn", "1 turn"},
		{0, 1, "1 turn, cost of 1 run unknown", "1 turn, cost of 1 run unknown (limit 25.00 USD)"},
		{1.2, 0, "1 turn, 1.20 USD", "1 turn, 1.20 of 25.00 USD"},
		{1.2, 2, "1 turn, at least 1.20 USD", "1 turn, at least 1.20 of 25.00 USD"},
	} {
		s := Sum{Turns: 1, Begun: 1, CostUSD: c.usd, UnknownCost: c.unknown}
		if got := s.Describe(work.Budgets{}, true); got != c.plain {
			t.Errorf("%+v: %q, want %q", s, got, c.plain)
		}
		if got := s.Describe(work.Budgets{CostPerItem: 25}, true); got != c.of25 {
			t.Errorf("%+v: %q, want %q", s, got, c.of25)
		}
		if got := (Day{Sum: s}).Describe(work.Budgets{CostPerDay: 25}); got != c.of25 {
			t.Errorf("the day, %+v: %q, want %q", s, got, c.of25)
		}
		if got := s.Describe(work.Budgets{CostPerItem: 25}, false); got != "1 turn" {
			t.Errorf("%+v where costs are not shown: %q", s, got)
		}
	}
}
