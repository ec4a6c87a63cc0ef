package report

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/report"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

var formats = []string{"html", "markdown", "json"}

type options struct {
	since  string
	repo   string
	file   string
	format string
	open   bool
	json   *terminal.JSON
}

func NewCmd(a *cli.App) *cobra.Command {
	opt := &options{}
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a report of pull requests, costs and failures",
		Long: `Write a report: what was merged, what waits and what is stopped, with the reason
and the next step; diagrams of the history of pull requests; and over time accepted
pull requests, those without a human commit, the time from a comment to its answer,
turns and cost of each accepted one, failures by kind, and reviewers' verdicts.

The report is one HTML page that needs no network and no script. It is written to
the file of --output, or to standard output; on a terminal, and with --open, to
report.html in the state folder. Days are whole days in UTC.

It reads the state database and does not ask GitHub.`,
		Example: `  $ gh mergexo report --open
  $ gh mergexo report --since 90d -o report.html
  $ gh mergexo report --format markdown >> "$GITHUB_STEP_SUMMARY"
  $ gh mergexo report --json numbers --jq .numbers.zeroTouch`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return opt.run(c.Context(), a) },
	}
	opt.json = cli.AddJSONFlags(c, report.Report{})
	c.Flags().StringVar(&opt.since, "since", "30d", "Start at this `day`: 30d, 4w, 2026-01-31 or all")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository` of the config")
	c.Flags().StringVarP(&opt.file, "output", "o", "", "Write it to this `file`")
	c.Flags().StringVar(&opt.format, "format", "", "html, markdown or json (default: by the `name` of the file, else html)")
	c.Flags().BoolVar(&opt.open, "open", false, "Open it in the browser")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// formatOf returns the requested format.
func (opt *options) formatOf() (string, error) {
	byName := map[string]string{".md": "markdown", ".markdown": "markdown", ".json": "json"}[strings.ToLower(filepath.Ext(opt.file))]
	format := cmp.Or(opt.format, byName, "html")
	switch {
	case !slices.Contains(formats, format):
		return "", &cli.UsageError{Err: fmt.Errorf("--format takes html, markdown or json, not %q", format)}
	case opt.open && format != "html":
		return "", &cli.UsageError{Err: errors.New("--open needs --format html")}
	case opt.json.Asked() && (opt.format != "" || opt.file != "" || opt.open):
		return "", &cli.UsageError{Err: errors.New("--json cannot be combined with --format, --output and --open")}
	}
	return format, nil
}

func (opt *options) run(ctx context.Context, a *cli.App) error {
	format, err := opt.formatOf()
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
	if !seen && !opt.json.Asked() {
		_, err = fmt.Fprintln(a.Env.Stderr, nothingYet)
		return err
	}
	r := report.Make(facts)
	if opt.json.Asked() {
		return opt.json.Write(a.Output(), r)
	}
	text, err := render(r, format)
	if err != nil {
		return err
	}
	return opt.deliver(ctx, a, cfg, format, text)
}

func render(r report.Report, format string) (string, error) {
	switch format {
	case "markdown":
		return r.Markdown(), nil
	case "json":
		b, err := json.MarshalIndent(r, "", "  ")
		return string(b) + "\n", err
	}
	b, err := r.HTML()
	return string(b), err
}

// deliver writes the report to the requested file. Without one, a page is printed for a program and
// saved in the state folder for a person.
func (opt *options) deliver(ctx context.Context, a *cli.App, cfg *config.Config, format, text string) error {
	out := a.Output()
	file := opt.file
	if file == "" && (opt.open || format == "html" && out.TTY) {
		file = filepath.Join(cfg.Runtime.StateDir, "report.html")
	}
	if file == "" || file == "-" || file == "/dev/stdout" {
		_, err := fmt.Fprint(out.Bare, text)
		return err
	}
	file, err := filepath.Abs(file)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := write(file, text); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if _, err := fmt.Fprintln(a.Notes(out), "report: "+file); err != nil || !opt.open {
		return err
	}
	return open(ctx, environ.Read(), file, a.Env.Stderr)
}

// read reads the report's data; false if no pass has run.
func read(ctx context.Context, a *cli.App, cfg *config.Config, only string, from time.Time) (f report.Facts, seen bool, err error) {
	wanted, err := cli.Repos(cfg, only)
	if err != nil {
		return f, false, err
	}
	halt, err := cli.Halted(cfg)
	if err != nil {
		return f, false, err
	}
	f = report.Facts{From: from, Now: a.Now(), Called: cfg.Called}
	q := status.Query{Config: cfg, Repos: wanted, Now: a.Now(), Halt: halt}
	seen, err = machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		b, err := status.Load(ctx, tx, q)
		if err != nil {
			return err
		}
		f.Items = terminal.Each(b.Briefs(), itemOf)
		keep := func(name work.RepoName) bool { return only == "" || slices.Contains(wanted, name) }
		return load(ctx, tx, &f, keep)
	})
	return f, seen, err
}
