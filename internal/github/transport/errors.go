package transport

import (
	"fmt"
	"strings"
)

// Error is an answer by which GitHub refused a request.
type Error struct {
	Status  int    // HTTP status; for GraphQL's 200 with errors, the one that its type stands for
	Type    string // GraphQL's error type, such as NOT_FOUND; empty for REST
	Message string
	Items   []ErrorItem
	URL     string
}

// ErrorItem is one of the reasons that come with a 422.
type ErrorItem struct {
	Code     string
	Field    string
	Message  string
	Resource string
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP %d from %s", e.Status, e.URL)
	if e.Type != "" {
		b.WriteString(" (" + e.Type + ")")
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	for _, i := range e.Items {
		switch {
		case i.Message != "":
			b.WriteString("; " + i.Message)
		case i.Code != "":
			fmt.Fprintf(&b, "; %s.%s: %s", i.Resource, i.Field, i.Code)
		}
	}
	return b.String()
}

// MovedError is a redirect that was not followed: the repository or issue has
// another address now.
type MovedError struct {
	URL      string
	Location string
}

func (e *MovedError) Error() string { return fmt.Sprintf("%s moved to %q", e.URL, e.Location) }

// UnclearError is a write whose fate is unknown: it may have been applied. It
// is looked for before it is sent again.
type UnclearError struct{ Err error }

func (e *UnclearError) Error() string { return "unclear whether GitHub applied it: " + e.Err.Error() }
func (e *UnclearError) Unwrap() error { return e.Err }

// UnreachableError is a read to which no whole answer came.
type UnreachableError struct {
	Host string
	Err  error
}

func (e *UnreachableError) Error() string {
	cause, _ := Cause(e.Host, e.Err)
	return "GitHub did not answer: " + cause
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// BodyError is an answer that GitHub called a success and that says something
// else than its API documents.
type BodyError struct {
	URL string
	Err error
}

func (e *BodyError) Error() string { return fmt.Sprintf("unexpected answer from %s: %v", e.URL, e.Err) }
func (e *BodyError) Unwrap() error { return e.Err }

// NotLoggedInError says that gh has no token for the host.
type NotLoggedInError struct{ Host string }

func (e *NotLoggedInError) Error() string {
	return fmt.Sprintf("not logged in to %s; run: gh auth login --hostname %s", e.Host, e.Host)
}
