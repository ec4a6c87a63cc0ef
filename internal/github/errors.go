package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// IsStatus reports whether err is GitHub's answer with one of the status codes.
func IsStatus(err error, codes ...int) bool {
	var e *transport.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Status)
}

// AlreadyExists reports whether GitHub refused to create something that exists already. For pull
// requests there is only a sentence, no code.
func AlreadyExists(err error) bool {
	var e *transport.Error
	return errors.As(err, &e) && e.Status == 422 && slices.ContainsFunc(e.Items, func(i transport.ErrorItem) bool {
		return i.Code == "already_exists" || strings.Contains(i.Message, "already exists")
	})
}

// NoDrafts reports whether GitHub refused to open a draft because the repository's plan has none. There is only a
// sentence, no code.
func NoDrafts(err error) bool {
	var e *transport.Error
	return errors.As(err, &e) && e.Status == 422 && slices.ContainsFunc(e.Items, func(i transport.ErrorItem) bool {
		return strings.Contains(strings.ToLower(i.Message), "draft pull requests are not supported")
	})
}

// OutOfTime reports whether an error only means that time or rate limit is used up for now.
func OutOfTime(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}

// IsItemError reports whether the error of a read of one issue or pull request concerns that one: the
// number waits and is named, and the rest is read. Any other error fails the pass: it concerns the host,
// the account, the rate limit or the time, or GitHub refuses the GraphQL document itself and would refuse
// it with other variables, too.
func IsItemError(err error) bool {
	var wait *work.WaitError
	var gone *transport.UnreachableError
	switch {
	case errors.As(err, &wait), errors.As(err, &gone), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	}
	e, answered := errors.AsType[*transport.Error](err)
	return !answered || e.Status != http.StatusUnauthorized && (e.Status != http.StatusBadRequest || e.Type == "")
}

// FirstError returns the first *work.WaitError of several requests, if any; otherwise it joins all
// errors.
func FirstError(errs []error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*work.WaitError](err); ok {
			return err
		}
	}
	return errors.Join(errs...)
}
