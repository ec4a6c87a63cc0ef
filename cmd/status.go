package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/store"
)

type statusOptions struct {
	repo string
	all  bool
	json *jsonFlags
}

func (a *app) newStatusCmd() *cobra.Command {
	opt := &statusOptions{}
	c := &cobra.Command{
		Use:   "status",
		Short: "Show where every work item stands",
		Long: `Show for each work item its state, since when it is in it, what it waits for,
what comes next, and what it has spent of its budgets; whether everything is
paused ("pause --all"), since when and why; the repositories that
GitHub did not answer for; what was spent in the last 24 hours; the agents whose
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
	b := board{repos: each(wanted, func(name work.RepoName) repoStatus {
		return repoStatus{Repo: work.Repo{Name: name}, called: cfg.Called(name)}
	})}
	seen, err := a.view(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		b, err = loadBoard(ctx, tx, wanted, opt.all, cfg, a.now())
		return err
	})
	if err != nil {
		return err
	}
	halt, err := halted(cfg)
	if err != nil {
		return err
	}
	out := newOutput(a.env)
	if halt != nil && !opt.json.asked() {
		a.printHalt(halt)
	}
	switch {
	case opt.json.asked():
		object := map[string]any{
			"items":        each(b.items, viewItem),
			"repositories": viewRepos(b),
			"day":          viewDay(b.day, cfg.Runtime.Budgets),
			"paused":       viewHalt(halt),
		}
		if slices.Contains(opt.json.fields, "agents") { // it starts programs
			object["agents"] = orEmpty(protections(ctx, cfg))
		}
		return opt.json.write(out, object)
	case !seen:
		fmt.Fprintln(a.env.Stderr, "nothing yet: no pass has been made. Make one: gh mergexo tick")
		a.printExposed(ctx, out, cfg)
		return nil
	}
	if err := a.printBoard(out, b); err != nil {
		return err
	}
	a.printLeft(out, b)
	a.printDay(out, b.day, cfg.Runtime.Budgets)
	a.printExposed(ctx, out, cfg)
	return nil
}

// printDay says what was spent lately; to a program only that nothing is left.
func (a *app) printDay(out output, d spending.Day, b work.Budgets) {
	if out.tty {
		fmt.Fprintln(out.w, dayLine(d, b))
	}
	if d.Why == "" {
		return
	}
	notes := a.env.Stderr
	if out.tty {
		notes = out.w
	}
	fmt.Fprintln(notes, out.local(d.Says()))
}

// printExposed names the agents that cannot be started, and those from which
// the operator's files are not hidden, and why.
func (a *app) printExposed(ctx context.Context, out output, cfg *config.Config) {
	notes := a.env.Stderr
	if out.tty {
		notes = out.w
	}
	for _, p := range protections(ctx, cfg) {
		if p.Drift != "" {
			fmt.Fprintln(notes, oneLine(p.Drift))
		}
		if !p.Found {
			fmt.Fprintln(notes, oneLine(p.Missing))
			continue
		}
		if !p.Hides {
			fmt.Fprintf(notes, "agent %q: %s\n", p.Agent, oneLine(p.Says))
		}
	}
	for _, d := range doubts(cfg) {
		fmt.Fprintln(notes, oneLine(d))
	}
}
