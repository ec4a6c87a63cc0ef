package mirror

import "fmt"

// MissingError says that a commit is neither in the mirror nor on the remote.
type MissingError struct{ OID string }

func (e *MissingError) Error() string { return fmt.Sprintf("commit %s is missing", e.OID) }

// EmptyError says that the remote repository has no branch.
type EmptyError struct{ URL string }

func (e *EmptyError) Error() string {
	return fmt.Sprintf("%s is empty: push a first commit to it", e.URL)
}
