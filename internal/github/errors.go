package github

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/runs"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// What users of this package need of its rooms, under one name.
type (
	Options          = transport.Options
	Request          = transport.Request
	Limit            = transport.Limit
	PageRequest      = transport.PageRequest
	Page[T any]      = transport.Page[T]
	Error            = transport.Error
	MovedError       = transport.MovedError
	UnclearError     = transport.UnclearError
	UnreachableError = transport.UnreachableError
	BodyError        = transport.BodyError
	Checks           = runs.Checks
	CheckRun         = runs.CheckRun
	Annotation       = runs.Annotation
	WorkflowRun      = runs.WorkflowRun
)

// NotLoggedInError says that gh has no token for the host.
type NotLoggedInError struct{ Host string }

func (e *NotLoggedInError) Error() string {
	return fmt.Sprintf("not logged in to %s; run: gh auth login --hostname %s", e.Host, e.Host)
}

// IsStatus reports whether err is GitHub's refusal with one of the statuses.
func IsStatus(err error, codes ...int) bool {
	var e *Error
	return errors.As(err, &e) && slices.Contains(codes, e.Status)
}

// IsTaken reports whether GitHub refused to make what exists already. For pull
// requests it has no code of its own for that, only a sentence.
func IsTaken(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == 422 && slices.ContainsFunc(e.Items, func(i transport.ErrorItem) bool {
		return i.Code == "already_exists" || strings.Contains(i.Message, "already exists")
	})
}
