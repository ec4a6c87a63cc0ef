package spending

import (
	"math"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Day is what remains of the day's budgets after the turns that began in the last 24 hours, in all
// repositories.
type Day struct {
	Sum
	Left  int         // turns that may still begin
	Until time.Time   // when the next turn may begin; zero: now
	Why   work.Reason // why none may begin; zero: one may
}

const Window = 24 * time.Hour

// DayOf compares the turns of the last 24 hours, oldest first, with the day's budgets.
func DayOf(turns []work.Spent, b work.Budgets, now time.Time) Day {
	d := Day{Sum: Of(turns), Left: math.MaxInt}
	if b.TurnsPerDay > 0 {
		d.Left = max(0, b.TurnsPerDay-d.Turns)
		if d.Left == 0 {
			d.Until = fewer(turns, d.Turns, b.TurnsPerDay)
			d.Why = overDay(work.MaxTurnsPerDay, float64(d.Turns), float64(b.TurnsPerDay), d.Until)
		}
	}
	if b.CostPerDay > 0 && d.CostUSD >= b.CostPerDay {
		d.Left = 0
		if until := cheaper(turns, d.CostUSD, b.CostPerDay); until.After(d.Until) {
			d.Until, d.Why = until, overDay(work.MaxCostPerDay, d.CostUSD, b.CostPerDay, until)
			d.Why.Count = d.UnknownCost
		}
	}
	return d
}

// fewer returns when enough turns are older than the window that less than limit remain.
func fewer(turns []work.Spent, n, limit int) time.Time {
	var at time.Time
	for _, t := range turns {
		if n < limit {
			break
		}
		n -= t.Turns()
		at = t.At
	}
	return at.Add(Window)
}

// cheaper returns when enough turns are older than the window that the rest costs less than limit.
func cheaper(turns []work.Spent, cost, limit float64) time.Time {
	var at time.Time
	for _, t := range turns {
		if cost < limit {
			break
		}
		cost -= t.CostUSD
		at = t.At
	}
	return at.Add(Window)
}

func overDay(budget string, used, limit float64, until time.Time) work.Reason {
	return work.Reason{Kind: work.WhyDayBudget, Name: budget, Used: used, Limit: limit, At: until.UnixMilli()}
}

// Describe formats what was spent of the day's budgets, in one line.
func (d Day) Describe(b work.Budgets) string {
	return ofTurns(d.Turns, b.TurnsPerDay) + d.ofCost(b.CostPerDay)
}
