package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

type statusOptions struct {
	repo string
	all  bool
	json *terminal.JSON
}

func newStatusCmd(a *app) *cobra.Command {
	opt := &statusOptions{}
	c := &cobra.Command{
		Use:   "status",
		Short: "Show where every work item stands",
		Long: `Show for each work item its state, since when it is in it, what it waits for,
what comes next, and what it has spent of its budgets; whether everything is
paused ("pause --all"), since when and why; the repositories that
GitHub did not answer for; those that nothing is merged into any more, and what
ends that; what was spent in the last 24 hours; the agents whose
program is missing, too old, or of a version that nobody has tried; those that
could read your files, because no sandbox is around them; what the config names
and is not there; and how far this machine's clock is from GitHub's, if it is.

It reads the state database, tries the sandbox and asks codex and claude for
their versions. It asks GitHub nothing.`,
		Example: `  $ gh mergexo status
  $ gh mergexo status --all --repo octo/repo
  $ gh mergexo status --json items \
      --jq '.items[] | select(.state == "blocked") | .url'`,
		Args: args(words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return a.status(c.Context(), opt) },
	}
	opt.json = addJSONFlags(c, "items", "repositories", "agents", "day", "paused")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository`, as configured")
	c.Flags().BoolVar(&opt.all, "all", false, "Also what is merged, completed or closed")
	return c
}

func (a *app) status(ctx context.Context, opt *statusOptions) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	wanted, err := repos(cfg, opt.repo)
	if err != nil {
		return err
	}
	halt, err := halted(cfg)
	if err != nil {
		return err
	}
	q := status.Query{Config: cfg, Repos: wanted, All: opt.all, Now: a.now(), Halt: halt}
	b := status.Empty(q)
	seen, err := machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		b, err = status.Load(ctx, tx, q)
		return err
	})
	if err != nil {
		return err
	}
	out := newOutput(a.env)
	if halt != nil && !opt.json.Asked() {
		a.printHalt(halt)
	}
	switch {
	case opt.json.Asked():
		object := b.Object()
		if slices.Contains(opt.json.Fields, "agents") { // it starts programs
			object["agents"] = terminal.OrEmpty(machine.Protections(ctx, cfg, config.Environ()))
		}
		return opt.json.Write(out, object)
	case !seen:
		fmt.Fprintln(a.env.Stderr, "nothing yet: no pass has been made. Make one: gh mergexo tick")
		a.printExposed(ctx, out, cfg)
		return nil
	}
	if err := b.Print(out, a.notes(out)); err != nil {
		return err
	}
	a.printExposed(ctx, out, cfg)
	return nil
}

// printExposed names the agents that cannot be started, and those from which
// the operator's files are not hidden, and why.
func (a *app) printExposed(ctx context.Context, out terminal.Output, cfg *config.Config) {
	notes := a.notes(out)
	for _, p := range machine.Protections(ctx, cfg, config.Environ()) {
		if p.Drift != "" {
			fmt.Fprintln(notes, terminal.OneLine(p.Drift))
		}
		if !p.Found {
			fmt.Fprintln(notes, terminal.OneLine(p.Missing))
			continue
		}
		if !p.Hides {
			fmt.Fprintf(notes, "agent %q: %s\n", p.Agent, terminal.OneLine(p.Says))
		}
	}
	for _, d := range machine.Doubts(cfg, config.Environ()) {
		fmt.Fprintln(notes, terminal.OneLine(d))
	}
}

// notes is where what is no result goes: below the results on a terminal, and beside
// them when they are read by a program.
func (a *app) notes(out terminal.Output) io.Writer {
	if out.TTY {
		return out.W
	}
	return a.env.Stderr
}
