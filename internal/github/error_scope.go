package github

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// OutOfTime reports whether an error only says that there is no more time or allowance now.
func OutOfTime(err error) bool {
	var wait *work.WaitError
	return errors.As(err, &wait) || errors.Is(err, context.DeadlineExceeded)
}

// IsItemError reports whether an error may concern one issue or pull request alone. One that
// concerns the host, the account, the allowance or the time does not.
func IsItemError(err error) bool {
	var wait *work.WaitError
	var gone *UnreachableError
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
