package work

import "time"

// PassOutcome says what became of a pass.
type PassOutcome string

// The outcomes of passes. A pass that another one's planning, or a pause of everything,
// kept from beginning has none: it opens no database.
const (
	PassOK        PassOutcome = "ok"        // at least one repository was read, or all were read a moment ago
	PassWaiting   PassOutcome = "waiting"   // no repository was asked: all wait, after a failure or for a limit of GitHub's
	PassFailed    PassOutcome = "failed"    // it has an error, or no repository that it asked could be read
	PassCancelled PassOutcome = "cancelled" // it was interrupted
)

// PassOutcomes are all there are.
var PassOutcomes = []PassOutcome{PassOK, PassWaiting, PassFailed, PassCancelled}

// LastPass is what is known of the last passes.
type LastPass struct {
	At       time.Time     // when the last one ended that was stored
	GoodAt   time.Time     // when the last one ended that was PassOK; zero: none
	Took     time.Duration // the last one that was stored
	Failures int           // how many failed in a row; what only waits is neither counted nor an end of the row
	Why      string        // of the last failure
}

// After is what is known once another pass has ended.
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
