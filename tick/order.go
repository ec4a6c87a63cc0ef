package tick

import (
	"slices"
	"time"
)

// waitPerPriority is how long something waits until it counts as one priority
// more urgent, so that nothing waits for ever.
const waitPerPriority = time.Hour

// order puts the planned turns of all repositories in line: round robin over
// the repositories and, within one, between feedback and new work; there by
// priority, raised by waiting, then the oldest first.
func order(plans []Plan, now time.Time) []PlannedTurn {
	var lines [][]PlannedTurn
	for _, p := range plans {
		if len(p.Turns) > 0 {
			lines = append(lines, orderRepo(p.Turns, now))
		}
	}
	// The repository whose first in line waits longest goes first.
	slices.SortStableFunc(lines, func(a, b []PlannedTurn) int { return a[0].Since.Compare(b[0].Since) })
	return alternate(lines...)
}

func orderRepo(turns []PlannedTurn, now time.Time) []PlannedTurn {
	var feedback, fresh []PlannedTurn
	for _, t := range turns {
		if t.Kind.Start() {
			fresh = append(fresh, t)
		} else {
			feedback = append(feedback, t)
		}
	}
	byUrgency := func(a, b PlannedTurn) int {
		if d := urgency(b, now) - urgency(a, now); d != 0 {
			return d
		}
		if d := a.Since.Compare(b.Since); d != 0 {
			return d
		}
		return a.Number - b.Number
	}
	slices.SortStableFunc(feedback, byUrgency)
	slices.SortStableFunc(fresh, byUrgency)
	if len(feedback) > 0 && len(fresh) > 0 && fresh[0].Since.Before(feedback[0].Since) {
		return alternate(fresh, feedback)
	}
	return alternate(feedback, fresh)
}

func urgency(t PlannedTurn, now time.Time) int {
	return t.Item.Priority + int(now.Sub(t.Since)/waitPerPriority)
}

// alternate takes one of each line in turn.
func alternate[T any](lines ...[]T) []T {
	var out []T
	for i := 0; ; i++ {
		taken := false
		for _, l := range lines {
			if i < len(l) {
				out = append(out, l[i])
				taken = true
			}
		}
		if !taken {
			return out
		}
	}
}
