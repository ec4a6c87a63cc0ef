// Package status is the command status: every work item, once or repeatedly, and the turns of a
// running pass.
package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/doctor"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// statusCmd is one run of status.
type statusCmd struct {
	*cli.App
	repo  string
	all   bool
	watch bool
	every time.Duration

	scheduled *schedule.State // nil: not asked yet
}

// NewCmd makes the command status.
func NewCmd(a *cli.App) *cobra.Command {
	s := &statusCmd{App: a}
	c := a.WithJSON(Board{}, &cobra.Command{
		Use:        "status",
		SuggestFor: []string{"list", "ls", "ps"},
		Short:      "Show the state of every work item",
		Long: `Show each work item with its state and since when, what it waits for, what comes
next, and what it has spent of its budgets. For items in progress, show what the
agent is doing.

Below them, status lists

  - what was merged or closed, and what was spent, in the last 24 hours
  - whether passes fail, hang or are overdue
  - other machines that are silent, whose passes fail, or whose config differs
  - repositories that are left to another machine, and until when
  - whether everything is paused ("pause --all"), since when and why
  - repositories that GitHub did not answer for, or where merging is stopped
  - agents whose program is missing, too old or untested
  - agents that scheduled passes do not find, or that are not logged in there
  - agents without a sandbox that hides your files, or whose provider is out
  - settings that name something that does not exist
  - how far this machine's clock is from GitHub's, if it differs

It reads the state database, tests the sandbox, and asks the schedulers what they
repeat and codex and claude for their versions. It does not ask GitHub.

With --watch it refreshes on a terminal until Ctrl-C, and exits with 2.`,
		Example: `  $ gh mergexo status
  $ gh mergexo status --watch
  $ gh mergexo status --all --repo octo/repo
  $ gh mergexo status --json items \
      --jq '.items[] | select(.state == "blocked") | .url'`,
		Args: cli.Args(func(c *cobra.Command, given []string) error {
			if len(given) == 1 {
				return fmt.Errorf("status is about all work items; about one: gh mergexo show %s", given[0])
			}
			return cli.Words(0, 0)(c, given)
		}),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := s.check(c.Flags().Changed("every")); err != nil {
				return err
			}
			return s.run(c.Context())
		},
	})
	c.Flags().StringVarP(&s.repo, "repo", "R", "", "Only this `repository` of the config")
	c.Flags().BoolVar(&s.all, "all", false, "Also show items that are merged, completed or closed")
	c.Flags().BoolVar(&s.watch, "watch", false, "Refresh until Ctrl-C")
	c.Flags().DurationVar(&s.every, "every", 2*time.Second, "With --watch: `duration` between two refreshes")
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
	case s.watch && !s.Output().TTY:
		return &cli.UsageError{Err: errors.New("--watch needs a terminal: a program repeats the command")}
	case s.watch && s.JSON.Asked():
		return &cli.UsageError{Err: errors.New("--watch and --json cannot be combined: repeat the command with --json")}
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
	b, seen, err := loadBoard(ctx, q)
	s.complete(ctx, cfg, b.Items)
	out := s.Output()
	if err != nil && s.JSON.Asked() { // programs read one line
		return err
	}
	if err != nil {
		for _, line := range s.passNotes(ctx, cfg, Board{}, err) {
			fmt.Fprintln(s.Env.Stderr, out.Ours(line))
		}
		return err
	}
	if s.JSON.Asked() {
		if slices.Contains(s.JSON.Fields, "passes") { // it asks the schedulers
			b.Passes = cli.ViewPasses(s.passes(ctx, cfg))
		}
		return s.JSON.Write(out, b)
	}
	notes := s.machineNotes(ctx, cfg)
	if err := s.print(out, b, q, seen, s.remarks(ctx, cfg, b, notes)); err != nil || seen {
		return err
	}
	doctor.PrintFailures(ctx, s.App, s.Notes(out), notes)
	return nil
}

// query makes the query for this moment.
func (s *statusCmd) query(cfg *config.Config) (Query, error) {
	wanted, err := cli.Repos(cfg, s.repo)
	if err != nil {
		return Query{}, err
	}
	halt, err := cli.Halted(cfg)
	return Query{Config: cfg, Repos: wanted, All: s.all, Now: s.Now(), Halt: halt, Machine: cli.ThisMachine(cfg)}, err
}

// loadBoard reads the board; seen is false if no pass has run.
func loadBoard(ctx context.Context, q Query) (b Board, seen bool, err error) {
	b = empty(q)
	seen, err = machine.View(ctx, q.Config, func(tx *store.Tx) (err error) {
		b, err = Load(ctx, tx, q)
		return err
	})
	return b, seen, err
}

// print prints the board and remarks about this machine.
func (s *statusCmd) print(out terminal.Output, b Board, q Query, seen bool, machine []string) error {
	notes := s.Notes(out)
	halt := q.Halt
	if seen {
		halt = b.halt
	}
	if halt != nil {
		fmt.Fprintln(notes, out.Ours(cli.HaltSays(*halt)))
	}
	if seen {
		if err := b.Print(out, notes); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(notes, cli.ErrNothingYet)
	}
	for _, line := range machine {
		fmt.Fprintln(notes, out.Ours(line))
	}
	return nil
}

// passes returns what is known of passes, with the schedule if it can be asked.
func (s *statusCmd) passes(ctx context.Context, cfg *config.Config) work.PassFacts {
	if s.scheduled == nil { // schedulers are programs: once is enough
		st, _ := schedule.Look(ctx, s.App, cfg) // doctor and schedule status report its problems
		s.scheduled = &st
		return st.Passes
	}
	f, _ := folder.Dirs{State: cfg.Runtime.StateDir}.Passes(cfg.PassLimits(), s.Now()) // the board reports an unreadable folder
	f.Every, f.Since = s.scheduled.Passes.Every, s.scheduled.Passes.Since
	return f
}

// complete has items say that passes do not find the program that they wait for. It asks the schedulers only if
// an item waits for a turn.
func (s *statusCmd) complete(ctx context.Context, cfg *config.Config, all []Item) {
	if slices.ContainsFunc(all, func(i Item) bool { return i.agent.Name != "" }) {
		s.passes(ctx, cfg)
		for n := range all {
			all[n].lack(*s.scheduled, s.Environ())
		}
	}
}

// passNotes says that passes do not work; empty: they do, or something else says why one of them failed:
// the line of a repository, or unread, why the board could not be read.
func (s *statusCmd) passNotes(ctx context.Context, cfg *config.Config, b Board, unread error) []string {
	f := s.passes(ctx, cfg)
	v := work.JudgePasses(f)
	_, damaged := errors.AsType[*store.DamagedError](unread)
	_, server := errors.AsType[*store.ServerError](unread)
	told := v.Code == work.PassesFail && f.Last.By == work.FailedByAgent || // the note about the agent says what to do
		(damaged || server) && v.Code == work.PassesFail && f.Last.By == work.FailedByDatabase ||
		(f.Last.By == work.FailedByLogin && v.Code == work.PassesFail || !v.Lasting && f.Last.By == work.FailedByRepos) && slices.ContainsFunc(b.Repos, func(r Repo) bool { return r.Error != "" })
	if told || !v.Bad() {
		return nil
	}
	return []string{terminal.OneLine(v.Line())}
}

// remarks are those on passes and on this machine.
func (s *statusCmd) remarks(ctx context.Context, cfg *config.Config, b Board, machine []string) []string {
	return append(s.passNotes(ctx, cfg, b, nil), machine...)
}

// machineNotes lists what status says about agents, their sandboxes and what the config names but
// this machine lacks.
func (s *statusCmd) machineNotes(ctx context.Context, cfg *config.Config) []string {
	s.passes(ctx, cfg)
	return doctor.ForStatus(ctx, cfg, *s.scheduled)
}
