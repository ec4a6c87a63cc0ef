package news

import (
	"slices"
	"time"
)

// retryAfter is how long to wait after a target could not be reached.
const retryAfter = 5 * time.Minute

// Due selects from the planned messages those to send now, oldest first and at most most, and those
// that are too old to send. It skips a target for retryAfter after it could not be reached.
func Due(planned []Entry, targets []Target, now time.Time, most int) (send, drop []Entry) {
	away := map[string]bool{}
	for _, e := range planned {
		if !e.SentAt.IsZero() && now.Sub(e.SentAt) < retryAfter {
			away[e.Target] = true
		}
	}
	for _, e := range planned {
		wanted := slices.ContainsFunc(targets, func(t Target) bool { return t.Name == e.Target })
		switch {
		case now.Sub(e.At) > MostAge:
			drop = append(drop, e)
		case wanted && !away[e.Target]:
			send = append(send, e)
		}
	}
	slices.SortStableFunc(send, func(a, b Entry) int { return a.At.Compare(b.At) })
	return send[:min(len(send), most)], drop
}
