package config

import (
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/config/document"
)

// Problem is one thing that is wrong in a config.
type Problem = document.Problem

// Problems are those that an error is about; false for an error that is about no config.
func Problems(err error) ([]Problem, bool) {
	invalid, ok := errors.AsType[*document.InvalidError](err)
	if !ok {
		return nil, false
	}
	return invalid.Problems, true
}

// MissingError says that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no config at %s; to begin with one: gh mergexo init (without one there is "gh mergexo demo")`, e.Path)
}
