package github

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// IsStatus reports whether err is GitHub's refusal with one of the statuses.
func IsStatus(err error, codes ...int) bool {
	var e *transport.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Status)
}

// IsTaken reports whether GitHub refused to make what exists already. For pull
// requests it has no code of its own for that, only a sentence.
func IsTaken(err error) bool {
	var e *transport.Error
	return errors.As(err, &e) && e.Status == 422 && slices.ContainsFunc(e.Items, func(i transport.ErrorItem) bool {
		return i.Code == "already_exists" || strings.Contains(i.Message, "already exists")
	})
}

// OutOfTime reports whether an error only says that there is no more time or allowance now.
func OutOfTime(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}

// IsItemError reports whether an error may concern one issue or pull request alone. One that
// concerns the host, the account, the allowance or the time does not.
func IsItemError(err error) bool {
	var wait *work.WaitError
	var gone *transport.UnreachableError
	switch {
	case errors.As(err, &wait), errors.As(err, &gone), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case IsStatus(err, 401, 403):
		return false
	}
	return true
}

// FirstError returns the error of several requests that says until when to wait, if there is
// one; otherwise it joins all.
func FirstError(errs []error) error {
	for _, err := range errs {
		if _, ok := errors.AsType[*work.WaitError](err); ok {
			return err
		}
	}
	return errors.Join(errs...)
}
