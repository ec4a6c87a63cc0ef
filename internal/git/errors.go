package git

import "fmt"

// RefusedError says that a tree must not be committed, naming the paths. The
// agent may be asked to mend it.
type RefusedError struct {
	Reason    string
	Protected bool // a path that the config protects is among them
}

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

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

// MissingError says that a commit is neither in the mirror nor on the remote.
type MissingError struct{ OID string }

func (e *MissingError) Error() string { return fmt.Sprintf("commit %s is missing", e.OID) }

// EmptyError says that the remote repository has no branch.
type EmptyError struct{ URL string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("%s is empty: push a first commit to it", e.URL)
}

// SigningError says that a commit could not be signed although the operator's
// git signs commits.
type SigningError struct{ Detail string }

func (e *SigningError) Error() string {
	return "sign commit (commit.gpgsign is set): " + e.Detail
}
