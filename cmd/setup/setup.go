// Package setup is the command init: it finds out what a config needs, asks for the rest, writes
// it, and prepares the first pass.
package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/mcp"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// options are the command's flags.
type options struct {
	repo, agent      string
	skill            string
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
		Long: `Set up a repository: write a config, or add the repository to the existing one,
create its labels, schedule passes on this machine, and check the setup.

By default it sets up the repository of the current folder. On a terminal it asks
for what it cannot find out; elsewhere, use flags. It shows the change of the config
as a diff before it writes, and changes no existing line. It may be interrupted and
run again: it does what is still missing.

--skill sets up nothing: it writes a skill for an agent of yours, which tells it how to
find out why something is stuck, with the tools of "gh mergexo mcp".`,
		Example: `  $ gh mergexo init
  $ gh mergexo init --repo octo/repo --agent codex --schedule --yes
  $ gh mergexo init --repo octo/repo --allow-user ann --reviewer sam
  $ gh mergexo init --skill ~/.claude/skills`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("skill") {
				if opt.skill == "" || c.Flags().NFlag() > 1 {
					return flagNeeded("--skill needs a folder, and no other flag")
				}
				path, err := mcp.WriteSkill(opt.skill)
				if err == nil {
					_, err = fmt.Fprintf(a.Output().W, "Wrote %s\n", path)
				}
				return err
			}
			r := &room{App: a, options: opt, out: a.Output(), dryRun: dryRun}
			if quiet, _ := a.Environ().Lookup("GH_PROMPT_DISABLED"); quiet == "" && !opt.yes {
				r.ask = terminal.NewPrompter(a.Env.Stdin, a.Env.Bare, a.Env.BareErr)
			}
			return r.run(c.Context())
		},
	}
	f := c.Flags()
	f.StringVarP(&opt.repo, "repo", "R", "", "Set up this `repository` (default: that of the current folder)")
	f.StringVar(&opt.agent, "agent", "", "Agent that works: codex, claude, or a `name` of the config's agents or of \"gh mergexo config agents\"")
	f.StringSliceVar(&opt.users, "allow-user", nil, "Obey this `login`, too, even without write permission")
	f.StringSliceVar(&opt.reviewers, "reviewer", nil, "Reviewer `name`: quinn, sam, priya or none (default: quinn)")
	f.BoolVar(&opt.schedule, "schedule", false, "Schedule passes on this machine")
	f.BoolVar(&opt.none, "no-schedule", false, "Do not schedule passes")
	f.DurationVar(&opt.every, "every", 0, "Time between two passes (default 1m)")
	f.StringVar(&opt.skill, "skill", "", "Write only a skill for an agent of yours into this `folder` of its skills")
	f.BoolVarP(&opt.yes, "yes", "y", false, "Write without asking")
	return c
}

// run does one step after another. Each first checks what exists, so that the command may be
// interrupted and run again.
func (r *room) run(ctx context.Context) error {
	switch {
	case r.schedule && r.none:
		return flagNeeded("--schedule and --no-schedule cannot be combined: leave out one of them")
	case r.every != 0 && r.none:
		return flagNeeded("--every and --no-schedule cannot be combined: leave out one of them")
	}
	d, err := r.readDraft()
	if err != nil {
		return err
	}
	if _, err := machine.DatabaseAt(d.cfg); err != nil {
		return err
	}
	name, err := r.repository(ctx, d)
	if err != nil {
		return err
	}
	p, err := r.lookUp(ctx, d.cfg, name)
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

// say prints lines. On a terminal long ones break at blanks; a command stays whole, to be copied.
func (r *room) say(format string, args ...any) {
	fmt.Fprint(r.out.W, r.out.Fit(r.out.Ours(fmt.Sprintf(format+"\n", args...))))
}

// flagNeeded is the error for a missing or wrong flag.
func flagNeeded(format string, args ...any) error {
	return &cli.UsageError{Err: fmt.Errorf(format, args...)}
}
