package work

import (
	"errors"
	"fmt"
	"syscall"
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

// MachineError says that this machine cannot do its part: its disk is full or read-only, or it does
// not let us use a folder of ours. No work item is at fault, so none loses an attempt.
type MachineError struct {
	Err error
	Do  string // what fixes it
}

func (e *MachineError) Error() string { return fmt.Sprintf("%v; %s", e.Err, e.Do) }
func (e *MachineError) Unwrap() error { return e.Err }

// What fixes a MachineError.
const (
	MakeRoom        = "make room and run a pass again: nothing is lost"
	MountForWriting = "mount it for writing, or " + AnotherFolder
	AnotherFolder   = "set runtime.state_dir in the config to a folder that you may write to"
)

// LetUse fixes missing permissions in a folder of ours.
func LetUse(dir string) string {
	return fmt.Sprintf(`sudo chown -R "$(id -u)" %[1]q && chmod -R u+rwX %[1]q`, dir)
}

// MachineFault returns the fault of this machine behind an error. A missing permission is none by
// itself: it may be that of a file which an agent made.
func MachineFault(err error) (*MachineError, bool) {
	var fault *MachineError
	switch {
	case errors.As(err, &fault):
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fault = &MachineError{Err: err, Do: MakeRoom}
	case errors.Is(err, syscall.EROFS):
		fault = &MachineError{Err: err, Do: MountForWriting}
	}
	return fault, fault != nil
}

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
