package cmd

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

// spentView is what was spent of some budgets, and how much they allow; a limit
// of 0 is none.
type spentView struct {
	Turns        int     `json:"turns"`
	MaxTurns     int     `json:"maxTurns"`
	Rounds       int     `json:"feedbackRounds"`
	MaxRounds    int     `json:"maxFeedbackRounds"`
	CostInUSD    float64 `json:"costUSD"`
	MaxCostInUSD float64 `json:"maxCostUSD"`
}

// dayView is what was spent in the last 24 hours, over all repositories.
type dayView struct {
	Turns        int        `json:"turns"`
	MaxTurns     int        `json:"maxTurns"`
	CostInUSD    float64    `json:"costUSD"`
	MaxCostInUSD float64    `json:"maxCostUSD"`
	HeldUntil    *time.Time `json:"heldUntil"` // null while turns may begin
	Why          string     `json:"why"`
}

// loadDay reads what was spent in the last 24 hours.
func loadDay(ctx context.Context, tx *store.Tx, b work.Budgets, now time.Time) (spending.Day, error) {
	spent, err := tx.ListSpentSince(ctx, now.Add(-24*time.Hour))
	return spending.DayOf(spent, b, now), err
}

func viewDay(d spending.Day, b work.Budgets) dayView {
	return dayView{d.Turns, b.TurnsPerDay, d.CostUSD, b.CostPerDay, stamp(d.Until), d.Why}
}

func viewSpent(f facts) spentView {
	s, b := f.Spent, f.Budgets
	return spentView{s.Turns, b.TurnsPerItem, s.Rounds, b.FeedbackRounds, s.CostUSD, b.CostPerItem}
}

// dayLine sums the day up.
func dayLine(d spending.Day, b work.Budgets) string { return "last 24 hours: " + d.Of(b) }

// spentLine sums up what an item's budgets count.
func spentLine(f facts) string { return f.Spent.Of(f.Budgets) }
