package spending

import (
	"fmt"
	"math"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Day is what the turns that began in the last 24 hours, over all repositories,
// leave of the day's budgets.
type Day struct {
	Sum
	Left  int       // turns that may still begin
	Until time.Time // none may before; zero while some may
	Why   string    // none may
}

const Window = 24 * time.Hour

// DayOf weighs what was begun in the last 24 hours, oldest first, against the
// day's budgets.
func DayOf(turns []work.Spent, b work.Budgets, now time.Time) Day {
	d := Day{Sum: Of(turns), Left: math.MaxInt}
	if b.TurnsPerDay > 0 {
		d.Left = max(0, b.TurnsPerDay-d.Turns)
		if d.Left == 0 {
			d.Until = fewer(turns, d.Turns, b.TurnsPerDay)
			d.Why = fmt.Sprintf("%s began in the last 24 hours; max_turns_per_day is %d", work.Count(d.Turns, "turn"), b.TurnsPerDay)
		}
	}
	if b.CostPerDay > 0 && d.CostUSD >= b.CostPerDay {
		d.Left = 0
		why := fmt.Sprintf("the turns of the last 24 hours have cost %.2f USD; max_cost_per_day_usd is %.2f", d.CostUSD, b.CostPerDay)
		if until := cheaper(turns, d.CostUSD, b.CostPerDay); until.After(d.Until) {
			d.Until, d.Why = until, why
		}
	}
	return d
}

// fewer is when so many turns have aged that the rest are fewer than a limit.
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

// cheaper is when so much has aged that the rest is below a limit.
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

// String tells people that nothing is begun today, and until when; empty while
// something may be.
func (d Day) String() string {
	if d.Why == "" {
		return ""
	}
	return fmt.Sprintf("no turn begins before %s: %s", work.Stamp(d.Until), d.Why)
}

// Describe says what was spent of the day's budgets, in one line.
func (d Day) Describe(b work.Budgets) string {
	return ofTurns(d.Turns, b.TurnsPerDay) + ofCost(d.CostUSD, b.CostPerDay) + d.unsaid()
}
