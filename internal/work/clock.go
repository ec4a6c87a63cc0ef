package work

import (
	"time"
)

// ClockSlack is how far a stamp may lie in the future before the clock that made it
// counts as wrong.
const ClockSlack = 2 * time.Minute

// Future reports whether a stamp of ours was made by a clock that was wrong: it lies
// in the future.
func Future(at, now time.Time) bool { return at.After(now.Add(ClockSlack)) }

// Waits reports whether the turn is not to be taken up before its NotBefore. A wait
// that a wrong clock stored is none.
func (t Turn) Waits(now time.Time) bool { return t.NotBefore.After(now) && !Future(t.UpdatedAt, now) }

// LongestWait is how long a repository is left alone at most, whatever GitHub
// said: then it is tried once.
const LongestWait = time.Hour

// Stamp is a time in a sentence. It is UTC, as sentences go to GitHub, into JSON
// and logs too; the command line shows it to people as their own time.
func Stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
