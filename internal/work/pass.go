package work

import "time"

// PassOutcome is how a pass ended.
type PassOutcome string

// The outcomes of passes. A pass that did not begin, because another one was planning or everything
// is paused, has none: it opens no database.
const (
	PassOK        PassOutcome = "ok"        // at least one repository was read, or all were read a moment ago
	PassWaiting   PassOutcome = "waiting"   // no repository was read: all wait after a failure or for a rate limit
	PassFailed    PassOutcome = "failed"    // an error, or no repository could be read
	PassCancelled PassOutcome = "cancelled" // interrupted
)

// PassOutcomes lists all outcomes.
var PassOutcomes = []PassOutcome{PassOK, PassWaiting, PassFailed, PassCancelled}

// LastPass summarizes the last passes.
type LastPass struct {
	At       time.Time     // end of the last stored pass
	GoodAt   time.Time     // end of the last PassOK; zero: none
	Took     time.Duration // duration of the last stored pass
	Failures int           // consecutive failures; a waiting pass neither counts nor resets them
	Why      string        // of the last failure
}

// After returns the summary after another pass.
func (l LastPass) After(outcome PassOutcome, at time.Time, took time.Duration, why string) LastPass {
	l.At, l.Took = at, took
	switch outcome {
	case PassOK:
		l.GoodAt, l.Failures, l.Why = at, 0, ""
	case PassFailed:
		l.Failures++
		l.Why = why
	case PassWaiting, PassCancelled:
	}
	return l
}
