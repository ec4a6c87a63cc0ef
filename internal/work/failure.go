package work

import (
	"fmt"
	"time"
)

// Errors have kinds, and one place (tick's settle) decides by kind, never by text. WaitError,
// BlockedError, SupersededError and CancelledError are such kinds, context.Canceled is an
// interrupt. Any other error counts as a failed attempt, is retried after a backoff, and blocks
// after the last attempt.

// WaitError says that it is too early: a rate limit, a network that is down, running checks. It
// uses no attempt.
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

// SupersededError says that the turn is outdated: it ends, and its events cause a new turn. It is
// allowed only before the turn's first effect.
type SupersededError struct{ Reason string }

func (e *SupersededError) Error() string { return "superseded: " + e.Reason }

// CancelledError says that the turn's result is not wanted any more: the issue or pull request was
// closed or merged.
type CancelledError struct{ Reason string }

func (e *CancelledError) Error() string { return "cancelled: " + e.Reason }

func describe(what string, err error) string {
	if err == nil {
		return what
	}
	return fmt.Sprintf("%s: %v", what, err)
}

// maxBackoff limits the wait between attempts.
const maxBackoff = 6 * time.Hour

// Backoff returns the wait after the nth consecutive failure, from n = 1: base times 1, 2, 4 …
func Backoff(base time.Duration, n int) time.Duration {
	d := base
	for i := 1; i < n && d < maxBackoff; i++ {
		d *= 2
	}
	return min(d, maxBackoff)
}

// MaxAttempts is the number of attempts before a turn blocks.
const MaxAttempts = 4
