package news

import (
	"slices"
	"time"
)

// retryAfter is how long a target is left alone that could not even be reached.
const retryAfter = 5 * time.Minute

// Due sorts out what is planned: what is sent now, oldest first and at most so many; and
// what is not sent any more, for it is too old. A target that could not be reached is left
// alone for a while.
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
