package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/about"
	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

type tickOptions struct {
	dryRun   bool
	read     bool // a person reads the plan, also without a terminal
	repo     string
	maxTurns int
	wait     time.Duration
	detach   bool
	now      bool
	detached bool // this is the pass that --detach started
	begun    *folder.Begun
	failures *failures
}

func newTickCmd(a *app) *cobra.Command {
	opt := &tickOptions{}
	c := a.WithJSON(passView{}, &cobra.Command{
		Use:        "tick",
		SuggestFor: []string{"run", "pass", "start", "once"},
		Short:      "Run one pass and exit",
		Long: `Run one pass: read what changed on GitHub, plan, run up to runtime.workers agent
turns in parallel, push, answer, and exit.

Let cron, launchd or a systemd timer repeat it ("gh mergexo schedule install"). A
pass may be killed at any moment: the next one resumes, and counts it as failed. If
another pass is planning, this one exits at once with 0; if a pass takes longer than
it may, with 1, and names its process.

A pass with nothing to do prints nothing, except on a terminal. It prints each
cause of an error in one line, with the command that fixes it.

Exit codes: 0 done, even if work waits or is blocked; 1 an error, or no repository
could be read; 2 cancelled; 4 no GitHub login, or GitHub rejects it.

After an error, later passes wait 1, 2, 4 … minutes before they ask GitHub again,
and exit with 0 until then; "gh mergexo status" shows the error. With --now a pass
does not wait for that. GitHub's rate limits still
apply. If the PostgreSQL database of runtime.database cannot be used, a pass without a
terminal says so and exits with 1; later ones say it once an hour, and exit with 0
in between.

Without a terminal, the same failure is printed once, and then once an hour with how
often passes failed; --now and --json print it each time.`,
		Example: `  $ gh mergexo tick --dry-run
  $ gh mergexo tick
  $ gh mergexo tick --now                  # after gh auth login
  $ gh mergexo tick --repo octo/repo --max-turns 1
  $ gh mergexo tick --json turns --jq '.turns[] | .outcome'`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("max-turns") && opt.maxTurns < 1 {
				return &cli.UsageError{Err: fmt.Errorf("--max-turns %d: want 1 or more", opt.maxTurns)}
			}
			err := a.tick(c.Context(), opt)
			return opt.failures.end(c.Context(), c, err)
		},
	})
	c.Flags().BoolVar(&opt.dryRun, "dry-run", false, "Show what a pass would do and why, and write nothing")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository` of the config")
	c.Flags().IntVar(&opt.maxTurns, "max-turns", 0, "Start at most `n` turns (default: 20)")
	c.Flags().DurationVar(&opt.wait, "wait", 0, "Wait up to this `duration` while another pass plans")
	c.Flags().BoolVar(&opt.now, "now", false, "Ask GitHub, and retry turns that wait after an error, at once")
	c.Flags().BoolVar(&opt.detach, "detach", false, "Start the pass in the background and exit")
	c.Flags().BoolVar(&opt.detached, "detached", false, "The pass that --detach started")
	_ = c.Flags().MarkHidden("detached") // hidden flags still work
	return c
}

func (a *app) tick(ctx context.Context, opt *tickOptions) error {
	if err := opt.check(a); err != nil {
		return err
	}
	cfg, broken, err := a.ConfigForAll()
	if cfg != nil {
		opt.failures = a.failuresOf(opt, cfg.Runtime.StateDir)
	}
	if broken != nil || err != nil {
		return cmp.Or(broken, err)
	}
	if _, err := opt.only(cfg); err != nil { // before the pass begins: a misspelt --repo is no failed pass
		return err
	}
	if h, err := cli.Halted(cfg); err != nil || h != nil && !h.Fleet { // the database decides about a pause of all machines
		return errors.Join(err, a.printHalted(h, opt, cfg), a.noteHalted(ctx, cfg, h))
	}
	if opt.dryRun {
		pass, done, err := a.newPass(ctx, cfg, opt)
		if err != nil {
			return err
		}
		return errors.Join(a.dryRun(ctx, cfg, pass, opt), done())
	}
	if err := machine.MakeFolder(cfg.Runtime.StateDir); err != nil {
		return err
	}
	dirs := folder.Dirs{State: cfg.Runtime.StateDir}
	if opt.begun, err = dirs.BeginPass(ctx, a.Now()); err != nil {
		return fmt.Errorf("a pass cannot begin, because it cannot record that in the state folder: %w", err)
	}
	if opt.detach {
		err = a.detach(ctx, cfg, opt)
	} else {
		err = work.Contain("run the pass", func() error { return a.begunPass(ctx, cfg, opt) })
	}
	return a.endPass(ctx, cfg, opt.begun, err)
}

// endPass records how a pass ended that did not come as far as to record it itself. The error also
// says whether another pass hangs.
func (a *app) endPass(ctx context.Context, cfg *config.Config, begun *folder.Begun, err error) error {
	dirs, early := folder.Dirs{State: cfg.Runtime.StateDir}, !begun.Ended()
	facts, factsErr := dirs.Passes(cfg.PassLimits(), a.Now())
	if v := work.JudgePasses(facts); v.Code == work.PassesHang && factsErr == nil {
		err = errors.Join(err, errors.New(v.Line()))
	}
	outcome, why := work.PassNone, ""
	switch {
	case errors.Is(err, context.Canceled):
		outcome = work.PassCancelled
	case err != nil:
		outcome, why = work.PassFailed, a.Secrets().Redact(terminal.OneLine(cmp.Or(machine.DiskTrouble(err, a.StateDir), err.Error())))
	}
	ctx = context.WithoutCancel(ctx)
	last, endErr := begun.End(ctx, outcome, a.Now(), why, tell.FailedBy(outcome, err))
	if m, machineErr := a.Machine(cfg); early && machineErr == nil && endErr == nil {
		m.TellFailing(ctx, work.PassFacts{Now: a.Now(), Last: last})
	}
	return errors.Join(err, endErr)
}

// begunPass runs a pass whose beginning is recorded.
func (a *app) begunPass(ctx context.Context, cfg *config.Config, opt *tickOptions) error {
	pass, done, err := a.newPass(ctx, cfg, opt)
	if err != nil {
		return err
	}
	for _, b := range opt.begun.Deaths() {
		if more, tell := opt.failures.tell(work.Failure{Kind: "killed"}); tell {
			fmt.Fprintln(a.Env.Stderr, a.Output().Ours(b.Died())+more)
		}
	}
	opt.failures.note(ctx) // now: this pass may be killed, too
	if err := proc.Guard(); err != nil {
		pass.Log.WarnContext(ctx, "this pass cannot be protected from processes of its agents", "error", err)
	}
	rep, err := a.runPass(ctx, pass)
	a.showDoubts(ctx, a.Output(), cfg, pass, rep != nil && len(rep.Turns()) > 0)
	err = errors.Join(err, done())
	if rep == nil {
		return err
	}
	opt.failures.sees(rep, cfg)
	unread := a.printReport(ctx, rep, opt, cfg)
	_, all := errors.AsType[*unreadError](unread)
	switch {
	case err == nil && (all || unread == nil) && rep.Shut != nil && !a.JSON.Asked():
		return &cli.CodeError{Code: exitCode(errors.Join(unread, rep.Shut))} // the lines above have the reason
	case err == nil && all:
		return unread // it has the cause
	}
	return errors.Join(unread, err, rep.Shut)
}

func (o *tickOptions) check(a *app) error {
	switch {
	case o.wait < 0:
		return &cli.UsageError{Err: fmt.Errorf("--wait %s: want a positive duration", o.wait)}
	case o.detach && o.dryRun:
		return &cli.UsageError{Err: errors.New("--detach and --dry-run cannot be combined: nobody would see the plan")}
	case o.detach && a.JSON.Asked():
		return &cli.UsageError{Err: errors.New("--detach and --json cannot be combined: nobody would see the report")}
	}
	return nil
}

// only returns the repository of --repo; nil: all.
func (o *tickOptions) only(cfg *config.Config) (*work.RepoName, error) {
	if o.repo == "" {
		return nil, nil
	}
	wanted, err := cli.Repos(cfg, o.repo)
	if err != nil {
		return nil, err
	}
	return &wanted[0], nil
}

// newPass makes a pass of this machine.
func (a *app) newPass(ctx context.Context, cfg *config.Config, opt *tickOptions) (*tick.Pass, func() error, error) {
	m, err := a.Machine(cfg)
	if err != nil {
		return nil, nil, err
	}
	only, err := opt.only(cfg)
	if err != nil {
		return nil, nil, err
	}
	made := machine.PassOptions{Only: only, Wait: opt.wait, MaxTurns: opt.maxTurns, AtOnce: opt.now, DryRun: opt.dryRun, Unseen: opt.detached, Begun: opt.begun, Version: about.Version(a.Env.Version)}
	return m.Pass(ctx, made)
}

// runPass runs the pass, and shows on a terminal what its turns do.
func (a *app) runPass(ctx context.Context, pass *tick.Pass) (*env.Report, error) {
	if !a.Output().TTY || a.JSON.Asked() {
		return pass.Run(ctx)
	}
	turns := status.NewTurns(a.App)
	defer turns.Close()
	pass.Progress, pass.Slow = turns.Changed, turns.Slow
	return pass.Run(ctx)
}

// detach starts the same pass without a terminal.
func (a *app) detach(ctx context.Context, cfg *config.Config, opt *tickOptions) error {
	m, err := machine.Open(machine.Options{Config: cfg, Env: a.Environ(), Now: a.Now})
	if err != nil {
		return err
	}
	args := []string{"tick", "--detached", "--config", cfg.Path}
	if opt.repo != "" {
		args = append(args, "--repo", opt.repo)
	}
	if opt.maxTurns > 0 {
		args = append(args, "--max-turns", fmt.Sprint(opt.maxTurns))
	}
	if opt.now {
		args = append(args, "--now")
	}
	if opt.wait > 0 {
		args = append(args, "--wait", opt.wait.String())
	}
	return m.Detach(ctx, args)
}

// showDoubts prints them on a terminal, and logs them if agents worked without one: under cron the
// environment differs from a terminal's.
func (a *app) showDoubts(ctx context.Context, out terminal.Output, cfg *config.Config, pass *tick.Pass, worked bool) {
	if !worked && !out.TTY {
		return
	}
	for _, d := range machine.Doubts(cfg, environ.Read()) {
		if out.TTY {
			fmt.Fprintln(a.Env.Stderr, d)
		}
		if worked {
			pass.Log.WarnContext(ctx, "the config has a doubtful setting", "what", d)
		}
	}
}
