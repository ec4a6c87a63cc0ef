// Package setup is the command init: it finds out what a config needs, asks for the rest, writes
// it, and prepares the first pass.
package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// options are the command's flags.
type options struct {
	repo, agent      string
	users, reviewers []string
	schedule, none   bool
	every            time.Duration
	yes              bool
}

// room holds what the steps of the command share.
type room struct {
	*cli.App
	options
	ask    *terminal.Prompter // nil: nobody can be asked
	out    terminal.Output
	dryRun func(context.Context) error
}

// NewCmd makes the command init. dryRun shows what a pass would do.
func NewCmd(a *cli.App, dryRun func(context.Context) error) *cobra.Command {
	opt := options{}
	c := &cobra.Command{
		Use:   "init",
		Short: "Set up a repository: config, labels, schedule",
		Long: `Set up a repository: write a config, or add the repository to the one that is
there, make its labels, have this machine repeat passes, and look at what is
missing.

The repository is the one of the folder that you are in. On a terminal it asks
for what it cannot find out; elsewhere flags say it. What changes in the config
is shown first, as a difference, and no line that is there is touched. A second
time it changes nothing, and carries on where the first one ended.`,
		Example: `  $ gh mergexo init
  $ gh mergexo init --repo octo/repo --agent codex --schedule --yes
  $ gh mergexo init --repo octo/repo --allow-user ann --reviewer sam`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			r := &room{App: a, options: opt, out: a.Output(), dryRun: dryRun}
			if quiet, _ := a.Environ().Lookup("GH_PROMPT_DISABLED"); quiet == "" && !opt.yes {
				r.ask = terminal.NewPrompter(a.Env.Stdin, a.Env.Bare, a.Env.BareErr)
			}
			return r.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVarP(&opt.repo, "repo", "R", "", "Set up this `repository` (default: that of the folder)")
	f.StringVar(&opt.agent, "agent", "", "Who works: codex, claude or a `name` of the config's agents")
	f.StringSliceVar(&opt.users, "allow-user", nil, "A `login` that may command beside those with write permission")
	f.StringSliceVar(&opt.reviewers, "reviewer", nil, "Who reviews: quinn, sam, priya; or `none` (default: quinn)")
	f.BoolVar(&opt.schedule, "schedule", false, "Have this machine repeat passes")
	f.BoolVar(&opt.none, "no-schedule", false, "Do not ask about that")
	f.DurationVar(&opt.every, "every", 0, "Time between two passes (default 1m)")
	f.BoolVarP(&opt.yes, "yes", "y", false, "Ask nothing, and write")
	c.MarkFlagsMutuallyExclusive("schedule", "no-schedule")
	return c
}

// run does one step after another. Each first checks what exists, so that the command may be
// interrupted and run again.
func (r *room) run(ctx context.Context) error {
	if r.every != 0 && r.none {
		return &cli.UsageError{Err: errors.New("--every and --no-schedule do not go together")}
	}
	d, err := r.readDraft()
	if err != nil {
		return err
	}
	name, err := r.repository(ctx, d)
	if err != nil {
		return err
	}
	p, err := r.lookUp(ctx, name)
	if err != nil {
		return err
	}
	r.tellAccount(p)
	if err := r.complete(ctx, d, p); err != nil {
		return err
	}
	cfg, err := r.apply(ctx, d, p)
	if err != nil {
		return err
	}
	if err := r.repeat(ctx, cfg); err != nil {
		return err
	}
	return r.finish(ctx, cfg, p)
}

func (r *room) say(format string, args ...any) { fmt.Fprintf(r.out.W, format+"\n", args...) }

// flagNeeded is the error for a missing flag when nobody can be asked.
func flagNeeded(format string, args ...any) error {
	return &cli.UsageError{Err: fmt.Errorf(format, args...)}
}
