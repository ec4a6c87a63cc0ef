package batch

import (
	"context"
	"errors"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// IsItemError reports whether an error may be one pull request's alone.
func IsItemError(err error) bool {
	var wait *work.WaitError
	var gone *github.UnreachableError
	switch {
	case errors.As(err, &wait), errors.As(err, &gone), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case github.IsStatus(err, 401, 403):
		return false
	}
	return true
}
