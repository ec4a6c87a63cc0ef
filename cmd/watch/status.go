// Package watch is the command status: every work item, once or repeatedly, and the turns of a
// running pass.
package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	doctorcmd "github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

// statusCmd is one run of status.
type statusCmd struct {
	*cli.App
	repo  string
	all   bool
	watch bool
	every time.Duration
	json  *terminal.JSON
}

// NewCmd makes the command status.
func NewCmd(a *cli.App) *cobra.Command {
	s := &statusCmd{App: a}
	c := &cobra.Command{
		Use:        "status",
		SuggestFor: []string{"list", "ls", "ps"},
		Short:      "Show where every work item stands",
		Long: `Show for each work item its state, since when it is in it, what it waits for,
what comes next, and what it has spent of its budgets; of those that are worked on
now what their agents do; what was merged or closed in the last 24 hours; whether
everything is paused ("pause --all"), since when and why; the repositories that
GitHub did not answer for; those that nothing is merged into any more, and what
ends that; what was spent in the last 24 hours; the agents whose
program is missing, too old, or of a version that nobody has tried; those that
could read your files, because no sandbox is around them; what the config names
and is not there; and how far this machine's clock is from GitHub's, if it is.

It reads the state database, tries the sandbox and asks codex and claude for
their versions. It asks GitHub nothing.

With --watch it shows the same again and again on a terminal, until Ctrl-C, and
ends with code 2; elsewhere it prints the line of an item whenever that changes.`,
		Example: `  $ gh mergexo status
  $ gh mergexo status --watch
  $ gh mergexo status --all --repo octo/repo
  $ gh mergexo status --json items \
      --jq '.items[] | select(.state == "blocked") | .url'`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(c.Flags().Changed("every")); err != nil {
				return err
			}
			return s.run(c.Context())
		},
	}
	s.json = cli.AddJSONFlags(c, status.Board{})
	c.Flags().StringVarP(&s.repo, "repo", "R", "", "Only this `repository`, as configured")
	c.Flags().BoolVar(&s.all, "all", false, "Also what is merged, completed or closed")
	c.Flags().BoolVar(&s.watch, "watch", false, "Show it again and again, until Ctrl-C")
	c.Flags().DurationVar(&s.every, "every", 2*time.Second, "With --watch: how often, as a `duration`")
	return c
}

// leastEvery is the shortest interval of --watch.
const leastEvery = 200 * time.Millisecond

func (s *statusCmd) check(every bool) error {
	switch {
	case every && !s.watch:
		return &cli.UsageError{Err: errors.New("--every goes with --watch")}
	case s.every < leastEvery:
		return &cli.UsageError{Err: fmt.Errorf("--every %s: want %s or more", s.every, leastEvery)}
	case s.watch && s.json.Asked():
		return &cli.UsageError{Err: errors.New("--watch and --json do not go together: ask for JSON as often as you need it")}
	}
	return nil
}

func (s *statusCmd) run(ctx context.Context) error {
	cfg, err := s.Config()
	if err != nil {
		return err
	}
	q, err := s.query(cfg)
	if err != nil {
		return err
	}
	if s.watch {
		return s.follow(ctx, cfg)
	}
	b, seen, err := load(ctx, q)
	if err != nil {
		return err
	}
	out := s.Output()
	if s.json.Asked() {
		if slices.Contains(s.json.Fields, "agents") { // it starts programs
			b.Agents = terminal.OrEmpty(machine.Agents(ctx, cfg, environ.Read()))
		}
		return s.json.Write(out, b)
	}
	if err := s.print(out, b, q, seen, machineNotes(ctx, cfg)); err != nil || seen {
		return err
	}
	doctorcmd.PrintFailures(ctx, s.App, s.Notes(out))
	return nil
}

// query makes the query for this moment.
func (s *statusCmd) query(cfg *config.Config) (status.Query, error) {
	wanted, err := cli.Repos(cfg, s.repo)
	if err != nil {
		return status.Query{}, err
	}
	halt, err := cli.Halted(cfg)
	return status.Query{Config: cfg, Repos: wanted, All: s.all, Now: s.Now(), Halt: halt}, err
}

// load reads the board; seen is false if no pass has run.
func load(ctx context.Context, q status.Query) (b status.Board, seen bool, err error) {
	b = status.Empty(q)
	seen, err = machine.View(ctx, q.Config.Runtime.StateDir, func(tx *store.Tx) error {
		b, err = status.Load(ctx, tx, q)
		return err
	})
	return b, seen, err
}

// print prints the board and remarks about this machine.
func (s *statusCmd) print(out terminal.Output, b status.Board, q status.Query, seen bool, machine []string) error {
	notes := s.Notes(out)
	if q.Halt != nil {
		fmt.Fprintln(notes, out.LocalTimes(cli.HaltSays(*q.Halt)))
	}
	if seen {
		if err := b.Print(out, notes); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(notes, "nothing yet: no pass has been made. Make one: gh mergexo tick")
	}
	for _, line := range machine {
		fmt.Fprintln(notes, line)
	}
	return nil
}

// machineNotes lists what status says about agents, their sandboxes and what the config names but
// this machine lacks.
func machineNotes(ctx context.Context, cfg *config.Config) []string {
	env := environ.Read()
	f := doctor.Facts{Agents: machine.Agents(ctx, cfg, env), Config: doctor.Config{Doubts: machine.Doubts(cfg, env)}}
	return terminal.Each(doctor.Only(doctor.Run(f, doctor.AtStatus), doctor.Warning, doctor.Failure), func(c doctor.Check) string {
		return terminal.OneLine(c.What())
	})
}
