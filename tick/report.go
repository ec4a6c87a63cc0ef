package tick

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// reportHeldTurns reports how many turns wait, and whether they wait for the day's budgets.
func (p *Pass) reportHeldTurns(ctx context.Context, plans []plan.Plan, begun int, rep *env.Report) {
	waiting, why := 0, explain.What(p.Day.Why, explain.Place{Spending: true})
	for _, made := range plans {
		for _, t := range plan.Of[plan.Turn](made) {
			if t.Held.Kind != work.WhyNoSlot && t.Held.Kind != work.WhyCollides {
				waiting++
			}
		}
	}
	rep.Due = max(waiting-begun, 0)
	if why == "" && begun == p.Day.Left { // the day's last turn
		waiting -= begun
		why = fmt.Sprintf("max_turns_per_day is %d", p.Config.Runtime.Budgets.TurnsPerDay)
	}
	if waiting == 0 || why == "" {
		return
	}
	rep.Held = fmt.Sprintf("%s held back: %s", work.Count(waiting, "turn"), why)
	p.Log.WarnContext(ctx, "turns wait for a daily budget", "turns", waiting, "why", why)
}
