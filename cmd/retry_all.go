package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
)

// addRetryAll adds --all to retry: all blocked items.
func (a *app) addRetryAll(c *cobra.Command) {
	all := c.Flags().Bool("all", false, "Retry all blocked items of the config's repositories")
	reason := c.Flags().String("reason", "", "With --all: only those with this reason `code`")
	c.Use = "retry {<owner/name#number> | --all [--reason <code>]}"
	c.Example += "\n  $ gh mergexo retry --all --reason failed"
	c.Long += "\n\n" + `--all retries each blocked item of all repositories in the config, one after the
other, and says which. Items that wait for a person's answer on the issue are retried
only with their reason code, because their agents would ask again. The codes are
those of "gh mergexo status --json items", as reasonCode. An error of one item is
reported and does not stop the others; the exit code is then 1.`
	one, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, given []string) error {
		switch {
		case !*all && *reason != "":
			return &cli.UsageError{Err: errors.New("--reason needs --all")}
		case !*all:
			return one(c, given)
		case len(given) > 0:
			return &cli.UsageError{Err: errors.New("--all retries all blocked items: leave out the item")}
		case *reason != "" && !slices.Contains(explain.Kinds(), work.ReasonKind(*reason)):
			return &cli.UsageError{Err: fmt.Errorf("--reason %q is no reason code; gh mergexo status --json items shows them as reasonCode", *reason)}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		if !*all {
			return run(c, given)
		}
		return a.retryAll(c.Context(), work.ReasonKind(*reason))
	}
}

// retryAll gives the command retry for each blocked item. One that dies is typed again: what was retried
// is not blocked any more.
func (a *app) retryAll(ctx context.Context, reason work.ReasonKind) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	items, err := a.stoppedItems(ctx, cfg, reason)
	if err != nil {
		return err
	}
	cmd := work.NewCommand(string(work.VerbRetry), nil)
	var done, skipped []string
	var failed []error
	var view answerView
	why, halted := "", false // why changes are left to a pass
	for _, i := range items {
		name := i.Named()
		if reason == "" && i.State == string(work.StateAwaitingIssueFollowup) {
			skipped = append(skipped, fmt.Sprintf("%s: skipped: it waits for an answer on the issue; gh mergexo retry %s retries it", name, name))
			continue
		}
		_, which, err := a.Item(name)
		if err != nil {
			return err
		}
		told, err := a.give(ctx, cfg, which, cmd)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			failed = append(failed, fmt.Errorf("%s is not retried: %w", name, err))
		case told.Refused:
			skipped = append(skipped, name+": skipped: "+cli.Plain(told.Answer))
		default:
			done = append(done, name+": "+cli.Plain(told.Answer))
			view.Left += told.Left
			why, halted = told.Why, told.Halted
		}
	}
	out := a.Output()
	view.Answer = strings.Join(slices.Concat([]string{retriedLine(len(done), len(items), reason)}, done, skipped), "\n")
	if a.JSON.Asked() {
		err = a.JSON.Write(out, view)
	} else {
		_, err = fmt.Fprintln(out.W, out.Ours(view.Answer))
		a.printLeft(view.Left, why, halted)
	}
	return errors.Join(err, errors.Join(failed...))
}

// retriedLine says how many items were retried.
func retriedLine(done, all int, reason work.ReasonKind) string {
	switch {
	case all == 0 && reason != "":
		return "nothing is blocked for that reason, so there is nothing to retry"
	case all == 0:
		return "nothing is blocked, so there is nothing to retry (gh mergexo tick --now tries at once what waits after an error)"
	}
	return fmt.Sprintf("retried %d of %s", done, work.Count(all, "blocked item"))
}

// stoppedItems returns the items that wait for a person, with a reason if one is given.
func (a *app) stoppedItems(ctx context.Context, cfg *config.Config, reason work.ReasonKind) ([]status.Item, error) {
	repos, err := cli.Repos(cfg, "")
	if err != nil {
		return nil, err
	}
	halt, err := cli.Halted(cfg)
	if err != nil {
		return nil, err
	}
	var b status.Board
	now := a.Now()
	seen, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		b, err = status.Load(ctx, tx, status.Query{Config: cfg, Repos: repos, Now: now, Halt: halt, Machine: cli.ThisMachine(cfg)})
		return err
	})
	switch {
	case err != nil:
		return nil, cli.NotDone(err)
	case !seen:
		return nil, cli.ErrNothingYet
	}
	return slices.DeleteFunc(b.Items, func(i status.Item) bool {
		stopped := i.Stop != nil || i.State == string(work.StateAwaitingIssueFollowup) || i.Review != nil && i.Review.State.Stopped()
		return !stopped || reason != "" && i.ReasonCode != reason
	}), nil
}
