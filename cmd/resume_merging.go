package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick"
)

func newResumeMergingCmd(a *app) *cobra.Command {
	return a.WithJSON(resumedView{}, &cobra.Command{
		Use:   "resume-merging <owner/name>",
		Short: "Resume merging in a repository where it was stopped",
		Long: `Resume merging in a repository where auto_merge stopped because two merges in a row
landed something other than what was approved. "gh mergexo status" names such
repositories. Look at what landed before you resume.

The next pass checks the gates of every pull request again.`,
		Example: `  $ gh mergexo resume-merging octo/repo`,
		Args:    cli.Args(cli.Words(1, 1)),
		RunE:    func(c *cobra.Command, given []string) error { return a.resumeMerging(c.Context(), given[0]) },
	})
}

func (a *app) resumeMerging(ctx context.Context, name string) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	wanted, err := cli.Repos(cfg, name)
	if err != nil {
		return err
	}
	halt, err := cli.Halted(cfg)
	if err != nil {
		return err
	}
	seen, err := machine.View(ctx, cfg, func(*store.Tx) error { return nil })
	switch {
	case err != nil:
		return cli.NotDone(err)
	case !seen:
		return cli.ErrNothingYet
	}
	pass, done, err := a.newPass(ctx, cfg, &tickOptions{})
	if err != nil {
		return err
	}
	was, stopped, err := tick.ResumeMerging(ctx, pass, wanted[0], func() {
		fmt.Fprintln(a.Env.Stderr, "a pass is planning; this waits for it")
	})
	if err = errors.Join(err, done()); err != nil {
		return orLogin(err, wanted[0])
	}
	if err := a.printResumed(cfg.Called(wanted[0]), was, stopped); err != nil || a.JSON.Asked() {
		return err
	}
	if stopped && halt != nil {
		a.PrintHalt(halt)
	}
	return nil
}

// resumedView is the output of resume-merging.
type resumedView struct {
	Repo    string           `json:"repository"`     // the repository
	Resumed bool             `json:"resumed"`        // whether merging was stopped there until now
	Stopped *cli.StoppedView `json:"mergingStopped"` // the stop that it ended; null: there was none
	Answer  string           `json:"answer"`         // the answer, for people
}

// printResumed reports whether a repository's merge stop was ended.
func (a *app) printResumed(repo string, was merging.Halt, stopped bool) error {
	var view *cli.StoppedView
	out, answer := a.Output(), "merging was not stopped in "+repo
	if stopped {
		view = cli.ViewStopped(was, repo)
		answer = fmt.Sprintf("merging resumes in %s: the next pass merges pull requests whose gates are open. It was stopped since %s: %s", repo, work.Stamp(was.At), view.Reason)
	}
	if a.JSON.Asked() {
		return a.JSON.Write(out, resumedView{repo, stopped, view, answer})
	}
	_, err := fmt.Fprintln(out.W, out.LocalTimes(answer))
	return err
}
