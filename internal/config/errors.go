package config

import (
	"errors"
	"fmt"
)

// Problems returns the problems of an InvalidError; false for any other error.
func Problems(err error) ([]Problem, bool) {
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return nil, false
	}
	return invalid.Problems, true
}

// MissingError means that there is no config.
type MissingError struct{ Path string }

func (e *MissingError) Error() string {
	return fmt.Sprintf(`no config at %s; to begin with one: gh mergexo init (without one there is "gh mergexo demo")`, e.Path)
}
