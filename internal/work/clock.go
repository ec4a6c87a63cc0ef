package work

import (
	"time"
)

// ClockSlack is how far in the future a time may be before it counts as set by a wrong clock.
const ClockSlack = 2 * time.Minute

// Future reports whether one of our times is in the future, because a wrong clock set it.
func Future(at, now time.Time) bool { return at.After(now.Add(ClockSlack)) }

// Waits reports whether the turn must wait for its NotBefore. A wait stored by a wrong clock does
// not count.
func (t Turn) Waits(now time.Time) bool { return t.NotBefore.After(now) && !Future(t.UpdatedAt, now) }

// LongestWait is the longest time before a repository is tried again, regardless of what GitHub
// said.
const LongestWait = time.Hour

// Stamp formats a time in a sentence, in UTC: sentences go to GitHub, JSON and logs. The command
// line converts it to local time.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
