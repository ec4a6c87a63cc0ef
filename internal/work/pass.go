package work

import (
	"time"
)

// PassOutcome is how a pass ended.
type PassOutcome string

// The outcomes of passes.
const (
	PassNone      PassOutcome = ""          // it did nothing: another one was planning, or everything is paused
	PassOK        PassOutcome = "ok"        // at least one repository was read, or all were read a moment ago
	PassWaiting   PassOutcome = "waiting"   // no repository was read: all wait after a failure or for a rate limit
	PassFailed    PassOutcome = "failed"    // an error, or no repository could be read
	PassCancelled PassOutcome = "cancelled" // interrupted
)

// PassOutcomes lists all outcomes.
var PassOutcomes = []PassOutcome{PassOK, PassWaiting, PassFailed, PassCancelled}

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

// PassCount is the number of passes with an outcome.
type PassCount struct {
	Outcome PassOutcome
	Count   int
}

// RequestCount is the number of requests to a host with a status.
type RequestCount struct {
	Host   string
	API    string // rest, graphql
	Status string // HTTP status in digits, or NoAnswer
	Count  int
}

// NoAnswer is the status of a request without an answer.
const NoAnswer = "none"

// RateLimit is the state of a host's rate limit, as last reported.
type RateLimit struct {
	Host      string
	Resource  string // the value of x-ratelimit-resource
	Remaining int
	Most      int
	ResetAt   time.Time // GitHub's clock
	At        time.Time // when it was reported
}

// ItemCount is the number of a repository's work items in a state.
type ItemCount struct {
	RepoID int64
	State  State
	Count  int
}
