package work

import (
	"fmt"
	"time"
)

// Failures have kinds, and one place (tick's settle) decides by them, never by
// prose. A WaitError, a BlockedError, a SupersededError and a CancelledError
// say what they are; context.Canceled is an interrupt; any other error is
// counted, backed off, and blocks after its last attempt.

// WaitError says that it is too early: a limit, a network that is down, checks
// that run. It uses no attempt.
type WaitError struct {
	Until  time.Time // zero: the next pass
	Reason Reason
	Err    error
}

func (e *WaitError) Error() string { return describe("waiting: "+e.Reason.String(), e.Err) }
func (e *WaitError) Unwrap() error { return e.Err }

// BlockedError says that a person must act.
type BlockedError struct {
	Reason Reason
	Err    error
}

func (e *BlockedError) Error() string { return describe("blocked: "+e.Reason.String(), e.Err) }
func (e *BlockedError) Unwrap() error { return e.Err }

// SupersededError says that the world moved on: the turn ends, its events make
// a new one. It is only legal before a turn's first effect.
type SupersededError struct{ Reason string }

func (e *SupersededError) Error() string { return "superseded: " + e.Reason }

// CancelledError says that nobody wants the turn's result any more: the issue
// or pull request was closed or merged.
type CancelledError struct{ Reason string }

func (e *CancelledError) Error() string { return "cancelled: " + e.Reason }

func describe(what string, err error) string {
	if err == nil {
		return what
	}
	return fmt.Sprintf("%s: %v", what, err)
}

// maxBackoff bounds the wait between attempts.
const maxBackoff = 6 * time.Hour

// Backoff is the wait after the nth consecutive failure (n from 1): 1, 2, 4 …
// times base.
func Backoff(base time.Duration, n int) time.Duration {
	d := base
	for i := 1; i < n && d < maxBackoff; i++ {
		d *= 2
	}
	return min(d, maxBackoff)
}

// MaxAttempts is how often a turn is tried before it blocks.
const MaxAttempts = 4
