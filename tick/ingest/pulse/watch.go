package pulse

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Manner is how a repository is watched.
type Manner string

// The manners. Programs read their names, so they are stable.
const (
	EachPass Manner = "each pass" // it is read in each pass
	ByPulse  Manner = "pulse"     // one query for many shows whether it changed
	ByTurn   Manner = "in turn"   // GitHub does not report whether it changed
)

// Watch returns how a repository, one of n of its host, is watched, and when it is looked at next
// if passes come often enough; zero means in the next pass after now.
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
