package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/shard"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/folder"
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

// NotShared is why nothing is known here of an item: its repository is in another machine's share.
func NotShared(cfg *config.Config, repo work.Repo, item string) error {
	kept, err := folder.Dirs{State: cfg.Runtime.StateDir}.Share()
	if err != nil || kept == "" || repo.NodeID == "" {
		return err
	}
	share, err := shard.Parse(kept)
	if err != nil || share.Takes(repo.NodeID) {
		return err
	}
	const there = "ask on the machine that has it"
	why := fmt.Errorf("nothing is known here of %s: %s is not in the share of this machine, %s; %s", item, cfg.Called(repo.Name), share.Machine(), there)
	return &CodedError{Code: CodeUnknownItem, Do: there, Err: why}
}
