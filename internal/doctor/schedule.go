package doctor

import (
	"fmt"
	"time"
)

func schedule(f Facts) []Check {
	a := &about{}
	if s := f.Schedule; s != nil {
		repeated(a, *s)
	}
	if f.Passes != nil {
		passes(a, *f.Passes, f.Schedule, f.Now)
	}
	return a.all
}

func repeated(a *about, s Schedule) {
	const do = "gh mergexo schedule install"
	switch {
	case s.Trouble != "":
		a.warn(CodeSchedule, s.Trouble, "gh mergexo schedule status")
	case !s.Installed:
		a.warn(CodeSchedule, "no scheduler repeats passes", do)
	case len(s.Differs) > 0:
		for _, why := range s.Differs {
			a.warn(CodeSchedule, s.Says+", and "+why, do)
		}
	case !s.Active:
		a.warn(CodeSchedule, s.Says+", and is not active", do)
	default:
		a.ok(CodeSchedule, s.Says)
	}
}

// longAgo is the time after which a machine with a schedule should have run a pass.
const longAgo = time.Hour

func passes(a *about, p Passes, s *Schedule, now time.Time) {
	if p.Paused != "" {
		a.warn(CodePaused, p.Paused, "gh mergexo resume --all")
	}
	when := p.Last.UTC().Format(time.RFC3339)
	switch {
	case p.Last.IsZero() && p.Failed == 0 && p.Tried:
		a.warn(CodeLastPass, "no pass has read a repository yet", "gh mergexo status says why")
	case p.Last.IsZero():
		a.warn(CodeLastPass, "no pass has run yet", "gh mergexo tick --dry-run shows what one would do; gh mergexo tick runs one")
	case p.Failed > 0:
		a.warn(CodeLastPass, fmt.Sprintf("%s failed: %s", count(p.Failed, "pass", "passes in a row"), p.Why), "gh mergexo tick")
	case s != nil && s.Installed && p.Paused == "" && now.Sub(p.Last) > longAgo:
		a.warn(CodeLastPass, "the last pass was at "+when+", although passes are scheduled", "gh mergexo schedule status")
	default:
		a.ok(CodeLastPass, "at "+when)
	}
	budgets(a, p)
	for _, u := range p.Untold {
		a.warn(CodeNotify, fmt.Sprintf("%s to %s did not arrive; the last: %s", count(u.Count, "message", "messages"), u.Target, u.Why), "gh mergexo notify test "+u.Target)
	}
}

func budgets(a *about, p Passes) {
	b := p.Budgets
	if b == nil {
		return
	}
	spent := fmt.Sprintf("last 24 hours: %s, $%.2f", count(p.Turns, "turn", "turns"), p.Cost)
	limit := func(unset bool, words string) string {
		if unset {
			return "no limit"
		}
		return words
	}
	most := fmt.Sprintf("at most %s turns and %s a day", limit(b.TurnsPerDay == 0, fmt.Sprint(b.TurnsPerDay)), limit(b.CostPerDay == 0, fmt.Sprintf("$%g", b.CostPerDay)))
	switch {
	case b.TurnsPerDay == 0 && b.CostPerDay == 0:
		a.warn(CodeBudgets, "neither the turns nor the cost of a day have a limit; "+spent, "set max_cost_per_day_usd in [runtime]")
	case b.TurnsPerDay > 0 && p.Turns >= b.TurnsPerDay || b.CostPerDay > 0 && p.Cost >= b.CostPerDay:
		a.warn(CodeBudgets, spent+", and the budget is used up: "+most, "wait, or raise max_turns_per_day or max_cost_per_day_usd in [runtime]")
	default:
		a.ok(CodeBudgets, most+"; "+spent)
	}
}
