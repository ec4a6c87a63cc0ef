package transport

import (
	"fmt"
	"strings"
)

// Error is an answer with an error status, or an error of GraphQL.
type Error struct {
	Status  int    // HTTP status; for GraphQL errors, the one that matches Type
	Type    string // GraphQL's error type, such as NOT_FOUND, or code, such as undefinedField; empty for REST
	Message string
	Items   []ErrorItem
	URL     string
	SSO     string // where a person authorizes the login for an organization with SAML single sign-on, if that is missing
}

// ErrorItem is one item of the errors in a 422.
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

// MovedError is a redirect that was not followed: the repository or issue has a new URL.
type MovedError struct {
	URL      string
	Location string
}

func (e *MovedError) Error() string { return fmt.Sprintf("%s moved to %q", e.URL, e.Location) }

// UnclearError is a write with an unknown outcome: it may have been applied. Look for its effect
// before sending it again.
type UnclearError struct{ Err error }

func (e *UnclearError) Error() string { return "unclear whether GitHub applied it: " + e.Err.Error() }
func (e *UnclearError) Unwrap() error { return e.Err }

// UnreachableError is a read without a whole answer.
type UnreachableError struct {
	Host string
	Err  error
}

func (e *UnreachableError) Error() string {
	cause, _ := Cause(e.Host, e.Err)
	return "GitHub did not answer: " + cause
}
func (e *UnreachableError) Unwrap() error { return e.Err }

// BodyError is an answer with a success status and a body that does not match GitHub's API.
type BodyError struct {
	URL string
	Err error
}

func (e *BodyError) Error() string { return fmt.Sprintf("unexpected answer from %s: %v", e.URL, e.Err) }
func (e *BodyError) Unwrap() error { return e.Err }

// NotLoggedInError means that gh has no token for the host.
type NotLoggedInError struct{ Host string }

func (e *NotLoggedInError) Error() string {
	return fmt.Sprintf("not logged in to %s; run: gh auth login --hostname %s", e.Host, e.Host)
}
