// Package schedule installs, shows and removes the schedule of passes in the machine's own
// scheduler, and uninstalls the program from the machine.
package schedule

import (
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
		Short: "Have this machine repeat passes",
		Long: `Have this machine repeat passes: by launchd on a Mac, by a systemd user timer, or by
cron. What is written is for this user and for the config that is in force; one
with another --config stands beside it.`,
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
		Short: "Repeat passes from now on",
		Long: `Repeat passes from now on, with the programs and the PATH of this shell.

On a Mac launchd does it. Elsewhere a systemd user timer does, if a session of
this user answers, and else cron. What is installed already stays with its
scheduler, and changes only where something is different: another --every,
a gh that has moved, another PATH. Nothing else of the crontab is touched.

cron knows whole minutes that divide an hour, and whole hours that divide a day;
launchd and systemd know seconds, ten at the least.`,
		Example: `  $ gh mergexo schedule install
  $ gh mergexo schedule install --every 30s
  $ gh mergexo schedule install --every 5m --kind cron`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return Install(c.Context(), r.App, opt) },
	}
	addFlags(c, &opt)
	return c
}

func (r *room) newPrintCmd() *cobra.Command {
	opt := Options{}
	c := &cobra.Command{
		Use:     "print",
		Short:   "Show what install would write, and where",
		Long:    `Show what install would write, and where. Nothing is written.`,
		Example: "  $ gh mergexo schedule print\n  $ gh mergexo schedule print --kind launchd",
		Args:    cli.Args(cli.Words(0, 0)),
	}
	addFlags(c, &opt)
	flags := cli.AddJSONFlags(c, printView{})
	c.RunE = func(c *cobra.Command, _ []string) error { return r.print(c.Context(), opt, flags) }
	return c
}

func addFlags(c *cobra.Command, opt *Options) {
	c.Flags().DurationVar(&opt.Every, "every", 0, "Time between two passes (default: as installed, else 1m)")
	c.Flags().StringVar((*string)(&opt.Kind), "kind", "", "Scheduler: `{launchd|systemd|cron}` (default: as installed, else what is there)")
}

func (r *room) newStatusCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Say whether and how passes are repeated",
		Long: `Say which scheduler repeats passes, how often and since when; when the last pass
was made, and when the next one is due; and whether install would write something
else now, for gh has moved or PATH is another one. A pass that read no repository
is one, too, such as one without network; one that only waits may leave no trace.

It asks GitHub nothing.`,
		Example: "  $ gh mergexo schedule status\n  $ gh mergexo schedule status --json installed,every",
		Args:    cli.Args(cli.Words(0, 0)),
	}
	flags := cli.AddJSONFlags(c, stateView{})
	c.RunE = func(c *cobra.Command, _ []string) error { return r.status(c.Context(), flags) }
	return c
}

func (r *room) newRemoveCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "remove",
		Short: "Repeat passes no more",
		Long: `Repeat passes no more. Only what schedule install wrote for this config is
removed. A pass that runs comes to its end; "gh mergexo pause --all" stops it.`,
		Example: "  $ gh mergexo schedule remove",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE:    func(c *cobra.Command, _ []string) error { return r.remove(c.Context()) },
	}
}

// Options are the interval and scheduler to install.
type Options struct {
	Every time.Duration // 0: the installed interval, or else one minute
	Kind  schedule.Kind // empty: the scheduler that has the job, or else the machine's default
}

const usual = time.Minute
