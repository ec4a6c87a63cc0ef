package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/shard"
)

// Share is --shard: which share of the repositories this machine takes. An empty one is none
// that was left away: a script whose variable is not set would take everything.
type Share struct {
	shard.Shard
	Told bool // it was given
	err  error
}

var _ pflag.Value = (*Share)(nil)

// Set takes what was given; what is wrong with it Check says.
func (s *Share) Set(text string) error {
	s.Told = true
	s.Shard, s.err = shard.Parse(text)
	return nil
}

// String is empty unless it was given.
func (s *Share) String() string {
	if !s.Told || s.err != nil {
		return ""
	}
	return s.Argument()
}

// Type is what it is in the reference.
func (*Share) Type() string { return "string" }

// Check says what is wrong with it.
func (s *Share) Check() error {
	if s.err != nil {
		return &UsageError{Err: fmt.Errorf("--shard: %w", s.err)}
	}
	return nil
}
