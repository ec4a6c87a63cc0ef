// Package schedule installs, shows and removes the schedule of passes in the machine's own
// scheduler, and ends all that runs on the machine.
package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/schedule"
)

// room holds what these commands share.
type room struct{ *cli.App }

// NewCmd makes the command that repeats passes.
func NewCmd(a *cli.App) *cobra.Command {
	r := &room{a}
	c := &cobra.Command{
		Use:   "schedule <command>",
		Short: "Repeat passes on this machine",
		Long: `Repeat passes on this machine: by launchd on macOS, by a systemd user timer, or by
cron. The schedule is for your user and for the config in use; a config named by
--config has its own schedule.`,
		Example: `  $ gh mergexo schedule install
  $ gh mergexo schedule status
  $ gh mergexo schedule remove`,
	}
	c.AddCommand(r.newInstallCmd(), r.newStatusCmd(), r.newPrintCmd(), r.newRemoveCmd())
	return c
}

func (r *room) newInstallCmd() *cobra.Command {
	opt := Options{}
	c := &cobra.Command{
		Use:   "install",
		Short: "Install the schedule, or update it",
		Long: `Repeat passes from now on, with the gh, the agents and the PATH of this shell.

macOS uses launchd. Other systems use a systemd user timer if a session of this user
answers, else cron. An installed schedule keeps its scheduler, and changes only if
something differs: another --every, a gh that has moved, another PATH. Other lines
of the crontab are not touched. If one of them runs "gh mergexo tick", too, its
passes and those of the schedule wait for one another.

cron takes minutes that divide an hour, and hours that divide a day; launchd and
systemd take seconds, at least 10.`,
		Example: `  $ gh mergexo schedule install
  $ gh mergexo schedule install --every 30s
  $ gh mergexo schedule install --every 5m --kind cron`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("every") && opt.Every <= 0 {
				return &cli.UsageError{Err: fmt.Errorf("--every %s: it is the time between two passes, such as 1m", opt.Every)}
			}
			return Install(c.Context(), r.App, opt)
		},
	}
	addFlags(c, &opt)
	return c
}

func (r *room) newPrintCmd() *cobra.Command {
	opt := Options{}
	c := &cobra.Command{
		Use:     "print",
		Short:   "Print what install would write, and where",
		Long:    `Print what install would write, and where. It writes nothing.`,
		Example: "  $ gh mergexo schedule print\n  $ gh mergexo schedule print --kind launchd",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE:    func(c *cobra.Command, _ []string) error { return r.print(c.Context(), opt) },
	}
	addFlags(c, &opt)
	return c
}

func addFlags(c *cobra.Command, opt *Options) {
	c.Flags().DurationVar(&opt.Every, "every", 0, "Time between two passes (default: as installed, else 1m)")
	c.Flags().StringVar((*string)(&opt.Kind), "kind", "", "Scheduler: `{launchd|systemd|cron}` (default: as installed, else the first that works)")
}

func (r *room) newStatusCmd() *cobra.Command {
	return r.WithJSON(stateView{}, &cobra.Command{
		Use:   "status",
		Short: "Show whether and how passes are repeated",
		Long: `Show which scheduler repeats passes, how often and since when, when the last pass
ran, and whether install would write something else now, because gh has moved or
PATH has changed. A pass that could read no repository,
for instance without network, counts as well.

It knows only what install wrote, and does not ask GitHub.`,
		Example: "  $ gh mergexo schedule status\n  $ gh mergexo schedule status --json active,every",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE:    func(c *cobra.Command, _ []string) error { return r.status(c.Context()) },
	})
}

func (r *room) newRemoveCmd() *cobra.Command {
	all, yes := false, false
	c := &cobra.Command{
		Use:        "remove",
		SuggestFor: []string{"uninstall"},
		Short:      "Remove the schedule; with --all all of gh mergexo from this machine",
		Long: `Remove the schedule that install wrote for this config. A running pass finishes;
"gh mergexo pause --all" stops it. What you wrote by hand stays.

With --all, also stop running agents and pause everything, then say what stays on
GitHub and here, and the last command to run.

--all asks before it starts; without a terminal it needs --yes. If it is interrupted,
run it again.`,
		Example: `  $ gh mergexo schedule remove
  $ gh mergexo schedule remove --all`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case all:
				return r.uninstall(c.Context(), yes)
			case yes:
				return &cli.UsageError{Err: errors.New("--yes goes with --all")}
			}
			return r.remove(c.Context())
		},
	}
	c.Flags().BoolVar(&all, "all", false, "Remove all of gh mergexo from this machine but its config and state folder")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "With --all: do not ask")
	return c
}

// Options are the interval and scheduler to install.
type Options struct {
	Every time.Duration // 0: the installed interval, or else one minute
	Kind  schedule.Kind // empty: the scheduler that has the job, or else the machine's default
}
