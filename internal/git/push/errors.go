package push

import "fmt"

// LeaseError says that the remote branch is not where it was expected.
// Nothing was pushed.
type LeaseError struct{ Branch, Expected, Detail string }

func (e *LeaseError) Error() string {
	at := e.Expected
	if at == "" {
		at = "absent"
	}
	return fmt.Sprintf("push %s: the remote branch moved (expected %s): %s", e.Branch, at, e.Detail)
}

// RejectedError says that the remote refused a push, and will again until a
// person acts.
type RejectedError struct{ Branch, Reason, Hint string }

func (e *RejectedError) Error() string {
	return fmt.Sprintf("push %s: refused: %s", e.Branch, e.Reason)
}

// UnclearError says that a push may or may not have been applied.
type UnclearError struct {
	Branch string
	Err    error
}

func (e *UnclearError) Error() string {
	return fmt.Sprintf("push %s: no clear answer: %v", e.Branch, e.Err)
}

func (e *UnclearError) Unwrap() error { return e.Err }

// KeptError says that a branch is one that we never delete. Nothing was asked of the remote.
type KeptError struct{ Branch, Reason string }

func (e *KeptError) Error() string { return fmt.Sprintf("delete %s: %s", e.Branch, e.Reason) }
