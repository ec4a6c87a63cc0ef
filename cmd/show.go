package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

func newShowCmd(a *app) *cobra.Command {
	var flags *terminal.JSON
	var log bool
	c := &cobra.Command{
		Use:   "show <owner/name#number>",
		Short: "Show the events, turns and actions of one work item",
		Long: `Show one work item: where it stands and where the reviews of its pull request
stand, with each reviewer's verdict and what is still open; where auto_merge is on,
what has to be so before it is merged, and what opens what is not; what people did,
what each turn made of it, and what was sent to GitHub, with links.
With "--events" show instead what happened about its reviews, the oldest first.

The item is named by its issue or its pull request: owner/name#12, its address,
or #12 (quote it for your shell) or 12 when one repository is configured.`,
		Example: `  $ gh mergexo show octo/repo#12
  $ gh mergexo show 12
  $ gh mergexo show 12 --events
  $ gh mergexo show 12 --json actions --jq '.actions[].url'`,
		Args: args(words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error { return a.show(c.Context(), given[0], log, flags) },
	}
	flags = addJSONFlags(c, "item", "turns", "events", "actions", "history", "review", "merge", "log")
	c.Flags().BoolVar(&log, "events", false, "What happened about the reviews of its pull request")
	return c
}

func (a *app) show(ctx context.Context, name string, log bool, flags *terminal.JSON) error {
	cfg, which, err := a.item(name)
	if err != nil {
		return err
	}
	s, found, _, err := a.story(ctx, cfg, which)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s is no work item: it has no label yet, or no pass has seen it (gh mergexo tick)", which.called(cfg))
	}
	out := newOutput(a.env)
	if flags.Asked() {
		return flags.Write(out, s.Object())
	}
	if s.Halt != nil {
		a.printHalt(s.Halt)
	}
	if log {
		return s.PrintLog(out)
	}
	return s.Print(out)
}

// story reads what is known of an item. It is not seen when there is no database yet.
func (a *app) story(ctx context.Context, cfg *config.Config, which ref) (s status.Story, found, seen bool, err error) {
	halt, err := halted(cfg)
	if err != nil {
		return s, false, false, err
	}
	q := status.Query{Config: cfg, Repos: []work.RepoName{which.repo}, All: true, Now: a.now(), Halt: halt}
	seen, err = machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		s, found, err = status.LoadStory(ctx, tx, q, which.number)
		return err
	})
	return s, found, seen, err
}
