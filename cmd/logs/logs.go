// Package logs shows the logs of passes to people: the JSON lines in logs/ of the state folder.
package logs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// logsCmd is one run of logs.
type logsCmd struct {
	*cli.App
	level string
	since string
	raw   bool
	json  terminal.JSON
}

// NewCmd makes the command logs.
func NewCmd(a *cli.App) *cobra.Command {
	l := &logsCmd{App: a}
	c := &cobra.Command{
		Use:   "logs [owner/name#number]",
		Short: "Print the log of passes and agents",
		Long: `Print the log of passes, with the output of agents, in the order of the lines.
It prints the last 24 hours, or of one work item all lines that are kept: those of
30 days, if they take no more than 1 GiB. The story of an item, turn by turn,
is in gh mergexo show.

With --json it prints the lines as stored: one JSON object each. The files are in the folder logs of
the state folder: one for each day, or several if much is logged.`,
		Example: `  $ gh mergexo logs
  $ gh mergexo logs octo/repo#12
  $ gh mergexo logs --level warn --since 7d
  $ gh mergexo logs --json --jq 'select(.msg == "agent says") | .line'`,
		Args: cli.Args(cli.Words(0, 1)),
		RunE: func(c *cobra.Command, given []string) error { return l.run(c.Context(), given) },
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok && wrong.GetFlag().Name == "json" {
			return &cli.UsageError{Err: noFields(wrong.GetValue())}
		}
		return cli.FlagError(c, err)
	})
	c.Flags().StringVar(&l.level, "level", "info", "Lowest `level`: debug, info, warn, error")
	c.Flags().StringVar(&l.since, "since", "", "Start at this `time`: 90m, 7d, 2026-01-31 or all")
	c.Flags().BoolVar(&l.raw, "json", false, "Print the lines as stored: JSON")
	c.Flags().StringVarP(&l.json.JQ, "jq", "q", "", "Filter each JSON line by a jq `expression`")
	return c
}

// noFields refuses a field behind --json, which other commands take there.
func noFields(field string) error {
	return fmt.Errorf("--json of logs takes no field, such as %q: it prints whole lines, which all have time, level and msg; to choose: --jq '{time, level, msg}'", field)
}

func (l *logsCmd) run(ctx context.Context, given []string) error {
	cfg, err := l.Config()
	if err != nil {
		return err
	}
	f, err := l.filter(cfg, given)
	if err != nil {
		return err
	}
	shown, err := l.printAll(ctx, dir(cfg), f)
	if err == nil && shown == 0 {
		fmt.Fprintf(l.Env.Stderr, "the log in %[2]s has no such lines%[1]s\n", f.about(), dir(cfg))
	}
	return err
}

// filter returns the lines that the command line selects.
func (l *logsCmd) filter(cfg *config.Config, given []string) (filter, error) {
	f := filter{least: l.level}
	if rank(l.level) == 0 {
		return f, &cli.UsageError{Err: fmt.Errorf("--level %q: want debug, info, warn or error", l.level)}
	}
	if !l.raw && l.json.JQ != "" {
		return f, &cli.UsageError{Err: errors.New("cannot use --jq without --json")}
	}
	if len(given) == 1 {
		_, which, err := l.Item(given[0])
		if _, wrong := errors.AsType[*cli.UsageError](err); wrong && l.raw && fieldName().MatchString(given[0]) {
			err = &cli.UsageError{Err: noFields(given[0])}
		}
		if err != nil {
			return f, err
		}
		f.repo, f.number, f.item = which.Repo.FullName(), which.Number, which.Called(cfg)
	}
	since, err := parseSince(l.since, l.Now())
	switch {
	case err != nil:
		return f, err
	case l.since != "":
		f.since = since
	case f.number == 0:
		f.since = l.Now().Add(-24 * time.Hour)
	}
	return f, nil
}

// fieldName matches the names of fields, separated by commas.
var fieldName = lazy.Regexp(`^[A-Za-z_,]+$`)

func dir(cfg *config.Config) string { return filepath.Join(cfg.Runtime.StateDir, "logs") }

// OfTurn prints the log of one turn.
func OfTurn(ctx context.Context, a *cli.App, cfg *config.Config, key string) error {
	l := &logsCmd{App: a}
	shown, err := l.printAll(ctx, dir(cfg), filter{least: "debug", turn: key})
	if err == nil && shown == 0 {
		fmt.Fprintf(a.Env.Stderr, "the log has no lines of that turn any more; lines are kept for 30 days, in %s\n", dir(cfg))
	}
	return err
}

// printAll prints the lines in order, and returns how many there were.
func (l *logsCmd) printAll(ctx context.Context, dir string, f filter) (shown int, err error) {
	p := l.printer()
	days, err := daysOf(dir, f.since)
	for _, path := range days {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		var n int
		n, err = printDay(path, f, p)
		shown += n
	}
	return shown, err
}

func (l *logsCmd) printer() *printer {
	return &printer{out: l.Output(), raw: l.raw, json: l.json}
}
