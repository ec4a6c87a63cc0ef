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

// addMerging adds --merging to resume: a repository where merging was stopped.
func (a *app) addMerging(c *cobra.Command) {
	repo := c.Flags().String("merging", "", "Resume merging in this `repository`, where it was stopped")
	c.Use = "resume {<owner/name#number> | --all | --merging <repo>}"
	c.Example += "\n  $ gh mergexo resume --merging octo/repo"
	c.Long += "\n\n" + `--merging resumes merging in a repository where auto_merge stopped because two merges
in a row landed something other than what was approved. "gh mergexo status" names such
repositories. Look at what landed before you resume. The next pass checks the gates of
every pull request again.`
	others, run := c.Args, c.RunE
	c.Args = func(c *cobra.Command, given []string) error {
		switch all := c.Flags().Lookup("all"); {
		case !c.Flags().Changed("merging"):
			return others(c, given)
		case len(given) > 0 || all.Changed:
			return &cli.UsageError{Err: errors.New("--merging names a repository: leave out the rest")}
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, given []string) error {
		if !c.Flags().Changed("merging") {
			return run(c, given)
		}
		return a.resumeMerging(c.Context(), *repo)
	}
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

// printResumed reports whether a repository's merge stop was ended.
func (a *app) printResumed(repo string, was merging.Halt, stopped bool) error {
	out, answer := a.Output(), "merging was not stopped in "+repo
	if stopped {
		answer = fmt.Sprintf("merging resumes in %s: the next pass merges pull requests whose gates are open. It was stopped since %s: %s", repo, work.Stamp(was.At), cli.ViewStopped(was, repo).Reason)
	}
	if a.JSON.Asked() {
		return a.JSON.Write(out, answerView{Answer: answer})
	}
	_, err := fmt.Fprintln(out.W, out.Ours(answer))
	return err
}
