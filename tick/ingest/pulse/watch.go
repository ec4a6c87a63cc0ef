package pulse

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Manner is how a repository is watched.
type Manner string

// The manners. Their names are stable: programs read them.
const (
	EachPass Manner = "each pass" // it is read in each pass
	ByPulse  Manner = "pulse"     // one query for many says whether it changed
	ByTurn   Manner = "in turn"   // GitHub does not say whether it changed
)

// Watch says how a repository is watched that is one of n of its host, and when it is looked
// at next, where passes come often enough; zero: in the next pass after now.
func Watch(r work.Repo, n int, hidden bool, least time.Duration, now time.Time) (Manner, time.Time) {
	manner, last, wait := ByPulse, r.Pulse.At, Wait(n, false, least)
	switch {
	case n <= Handful:
		manner, last, wait = EachPass, r.HeartbeatAt, least
	case hidden:
		manner = ByTurn
	}
	next := time.Time{}
	if !last.IsZero() {
		next = last.Add(wait)
	}
	if r.NotBefore.After(next) {
		next = r.NotBefore
	}
	if !next.After(now) {
		next = time.Time{}
	}
	return manner, next
}
