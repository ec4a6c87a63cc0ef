// Package report has the command report: what the work achieved and what it cost. It
// reads only the state database, not GitHub.
package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

var formats = []string{"html", "markdown"}

type options struct {
	since  string
	repo   string
	file   string
	format string
}

func NewCmd(a *cli.App) *cobra.Command {
	opt := &options{}
	c := a.WithJSON(Report{}, &cobra.Command{
		Use:   "report",
		Short: "Write a report of pull requests, costs and failures",
		Long: `Write a report: what was merged, what waits and what is stopped, with the reason
and the next step; pull requests with their outcome and cost; and over time accepted
pull requests, those without a human commit, the time from a comment to its answer,
turns and cost of each accepted one, failures by kind, and reviewers' verdicts.

The report is one HTML page that needs no network and no script. It is written to
the file of --output, or to standard output; on a terminal, to report.html in the
state folder. Days are whole days in UTC.

It reads the state database and does not ask GitHub.`,
		Example: `  $ gh mergexo report
  $ gh mergexo report --since 90d -o report.html
  $ gh mergexo report --format markdown >> "$GITHUB_STEP_SUMMARY"
  $ gh mergexo report --json numbers --jq .numbers.zeroTouch`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return opt.run(c.Context(), a) },
	})
	c.Flags().StringVar(&opt.since, "since", "30d", "Start at this `day`: 30d, 4w, 2026-01-31 or all")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository` of the config")
	c.Flags().StringVarP(&opt.file, "output", "o", "", "Write it to this `file`")
	c.Flags().StringVar(&opt.format, "format", "", "html or markdown (default: by the `name` of the file, else html)")
	c.AddCommand(newCostCmd(a))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// formatOf returns the requested format.
func (opt *options) formatOf(a *cli.App) (string, error) {
	byName := map[string]string{".md": "markdown", ".markdown": "markdown"}[strings.ToLower(filepath.Ext(opt.file))]
	format := cmp.Or(opt.format, byName, "html")
	switch {
	case !slices.Contains(formats, format):
		return "", &cli.UsageError{Err: fmt.Errorf("--format takes html or markdown, not %q", format)}
	case a.JSON.Asked() && (opt.format != "" || opt.file != ""):
		return "", &cli.UsageError{Err: errors.New("--json cannot be combined with --format and --output")}
	}
	return format, nil
}

func (opt *options) run(ctx context.Context, a *cli.App) error {
	format, err := opt.formatOf(a)
	if err != nil {
		return err
	}
	from, err := since(opt.since, a.Now())
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	facts, seen, err := read(ctx, a, cfg, opt.repo, from)
	if err != nil {
		return err
	}
	if !seen && !a.JSON.Asked() {
		_, err = fmt.Fprintln(a.Env.Stderr, cli.ErrNothingYet)
		return err
	}
	r := Make(facts)
	if a.JSON.Asked() {
		return a.JSON.Write(a.Output(), r)
	}
	text, err := render(r, format)
	if err != nil {
		return err
	}
	return opt.deliver(a, cfg, format, text)
}

// read reads the report's data; false if no pass has run.
func read(ctx context.Context, a *cli.App, cfg *config.Config, only string, from time.Time) (f Facts, seen bool, err error) {
	wanted, err := cli.Repos(cfg, only)
	if err != nil {
		return f, false, err
	}
	halt, err := cli.Halted(cfg)
	if err != nil {
		return f, false, err
	}
	f = Facts{From: from, Now: a.Now(), Called: cfg.Called}
	q := status.Query{Config: cfg, Repos: wanted, Now: a.Now(), Halt: halt, Machine: cli.ThisMachine(cfg)}
	seen, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
		b, err := status.Load(ctx, tx, q)
		if err != nil {
			return err
		}
		f.Items = b.Items
		return load(ctx, tx, &f, func(name work.RepoName) bool { return only == "" || slices.Contains(wanted, name) })
	})
	return f, seen, err
}

// load reads the sums of the repositories that keep selects.
func load(ctx context.Context, tx *store.Tx, f *Facts, keep func(work.RepoName) bool) error {
	pulls, err := tx.Pulls(ctx, f.From)
	if err != nil {
		return err
	}
	costs, err := tx.Costs(ctx, f.From, store.ByRepo)
	if err != nil {
		return err
	}
	failures, err := tx.Failures(ctx, f.From, store.ByDay, store.ByRepo, store.ByKind)
	if err != nil {
		return err
	}
	verdicts, err := tx.Verdicts(ctx, f.From, store.ByRepo, store.ByReviewer, store.ByOutcome)
	if err != nil {
		return err
	}
	answers, err := tx.Times(ctx, store.TimeAnswer, f.From, store.ByDay, store.ByRepo)
	if err != nil {
		return err
	}
	f.Pulls = slices.DeleteFunc(pulls, func(p store.PullFacts) bool { return !keep(p.Repo) })
	f.Costs = slices.DeleteFunc(costs, func(l store.CostLine) bool { return !keep(l.Repo) })
	f.Failures = slices.DeleteFunc(failures, func(l store.CountLine) bool { return !keep(l.Repo) })
	f.Verdicts = slices.DeleteFunc(verdicts, func(l store.VerdictLine) bool { return !keep(l.Repo) })
	f.Answers = slices.DeleteFunc(answers, func(l store.TimeLine) bool { return !keep(l.Repo) })
	f.ByItem, err = tx.Costs(ctx, time.Time{}, store.ByItem)
	return err
}

// longest limits --since, in days: a century.
const longest = 36500

// since parses --since: whole days in UTC, the last of which is today. The zero time means the
// beginning.
func since(text string, now time.Time) (time.Time, error) {
	if text == "all" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if t.After(now) {
			return t, &cli.UsageError{Err: fmt.Errorf("--since %s: that day has not begun in UTC", text)}
		}
		return t, nil
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		n, err := strconv.Atoi(strings.TrimSuffix(text, unit))
		if err == nil && strings.HasSuffix(text, unit) && n > 0 && n <= longest/days {
			return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-n*days), nil
		}
	}
	return time.Time{}, &cli.UsageError{Err: fmt.Errorf("--since takes days (30d), weeks (4w), a day (2026-01-31) or all, not %q", text)}
}

// sinceSays is since in words.
func sinceSays(at time.Time) string {
	if at.IsZero() {
		return "since the beginning"
	}
	return "since " + at.Format(time.DateOnly) + " (UTC)"
}
