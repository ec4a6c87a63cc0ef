package git

// SigningError says that a commit could not be signed although the operator's
// git signs commits.
type SigningError struct{ Detail string }

func (e *SigningError) Error() string {
	return "sign commit (commit.gpgsign is set): " + e.Detail
}
