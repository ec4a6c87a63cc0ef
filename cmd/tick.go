package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

type tickOptions struct {
	dryRun   bool
	repo     string
	maxTurns int
	wait     time.Duration
	detach   bool
	json     *jsonFlags
}

func (a *app) newTickCmd() *cobra.Command {
	opt := &tickOptions{}
	c := &cobra.Command{
		Use:   "tick",
		Short: "Make one reconcile pass and exit",
		Long: `Make exactly one reconcile pass: read what is new on GitHub, plan, run up to
runtime.workers agent turns side by side, push and answer, and exit.

Run it from cron, launchd or a systemd timer. A pass may be killed at any
moment: the next one carries on. While another pass plans, this one exits at
once, quietly, with code 0.

An idle pass prints nothing unless it is on a terminal. What is wrong is one line
for each cause, with what to type. Exit codes: 0 the pass is complete, also when
work waits or is blocked; 1 an error, or no repository could be read; 2 it was
cancelled; 4 no login, or one that GitHub does not accept.`,
		Example: `  $ gh mergexo tick --dry-run
  $ gh mergexo tick
  $ gh mergexo tick --repo octo/repo --max-turns 1
  $ gh mergexo tick --json turns --jq '.turns[] | .outcome'`,
		Args: args(words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return a.tick(c.Context(), opt) },
	}
	opt.json = addJSONFlags(c, "startedAt", "endedAt", "skipped", "repositories", "turns", "plan", "held", "paused")
	c.Flags().BoolVar(&opt.dryRun, "dry-run", false, "Show what a pass would do and why, and write nothing")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository`, as configured")
	c.Flags().IntVar(&opt.maxTurns, "max-turns", 0, "Begin at most `n` turns (default: runtime.max_turns_per_pass)")
	c.Flags().DurationVar(&opt.wait, "wait", 0, "Wait up to this `duration` while another pass plans")
	c.Flags().BoolVar(&opt.detach, "detach", false, "Start the pass in a session of its own and exit")
	return c
}

func (a *app) tick(ctx context.Context, opt *tickOptions) error {
	if err := opt.check(); err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if h, err := halted(cfg); err != nil || h != nil {
		return errors.Join(err, a.printHalted(h, opt))
	}
	if opt.detach {
		return a.detach(ctx, cfg, opt)
	}
	pass, done, err := a.newPass(ctx, cfg, opt)
	if err != nil {
		return err
	}
	if opt.dryRun {
		return errors.Join(a.dryRun(ctx, cfg, pass, opt), done())
	}
	if err := proc.Guard(); err != nil {
		pass.Log.WarnContext(ctx, "this pass cannot be guarded against what its agents start", "error", err)
	}
	rep, err := pass.Run(ctx)
	a.tellDoubts(ctx, newOutput(a.env), cfg, pass, rep != nil && len(rep.Turns()) > 0)
	err = errors.Join(err, done())
	if rep == nil {
		return err
	}
	if err = errors.Join(a.printReport(rep, opt, cfg), err); err == nil && rep.Shut != nil && !opt.json.asked() {
		return &codeError{exitCode(rep.Shut)} // the lines above say why
	}
	return errors.Join(err, rep.Shut)
}

func (o *tickOptions) check() error {
	switch {
	case o.maxTurns < 0:
		return &usageError{fmt.Errorf("--max-turns %d: want 1 or more", o.maxTurns)}
	case o.wait < 0:
		return &usageError{fmt.Errorf("--wait %s: want a positive duration", o.wait)}
	case o.detach && o.dryRun:
		return &usageError{errors.New("--detach and --dry-run do not go together: nobody would see the plan")}
	case o.detach && o.json.asked():
		return &usageError{errors.New("--detach and --json do not go together: nobody would see the report")}
	}
	return nil
}

// printHalted tells that there is no pass, for everything is paused.
func (a *app) printHalted(h *tick.Halt, opt *tickOptions) error {
	if h == nil {
		return nil
	}
	if !opt.json.asked() {
		a.printHalt(h)
		return nil
	}
	now := a.now().UTC()
	return opt.json.write(newOutput(a.env), map[string]any{
		"startedAt": now, "endedAt": now, "skipped": haltSays(*h), "repositories": []any{}, "turns": []any{}, "plan": []any{}, "held": "", "paused": viewHalt(h),
	})
}

// printReport tells what the pass did. An idle pass has nothing to tell.
func (a *app) printReport(rep *tick.Report, opt *tickOptions, cfg *config.Config) error {
	out := newOutput(a.env)
	if rep.Halt != nil {
		return a.printHalted(rep.Halt, opt)
	}
	if opt.json.asked() {
		if err := opt.json.write(out, map[string]any{
			"startedAt": rep.StartedAt.UTC(), "endedAt": rep.EndedAt.UTC(), "skipped": rep.Skipped,
			"repositories": orEmpty(rep.Repos()), "turns": orEmpty(rep.Turns()), "plan": []any{}, "held": rep.Held, "paused": nil,
		}); err != nil {
			return err
		}
		return failedRepos(rep.Repos(), len(cfg.Repos))
	}
	switch {
	case out.tty && rep.Held != "":
		fmt.Fprintln(out.w, out.local(rep.Held))
	case out.tty && rep.Idle():
		fmt.Fprintln(out.w, out.local(idleNote(rep)))
	}
	var rows [][]string
	for _, t := range rep.Turns() {
		rows = append(rows, []string{t.Repo + "#" + strconv.Itoa(t.Number), string(t.Kind), t.Outcome, out.local(t.Reason), t.URL})
	}
	switch {
	case len(rows) > 0:
		if err := out.table([]string{"ITEM", "TURN", "OUTCOME", "REASON", "LINK"}, rows); err != nil {
			return err
		}
	case out.tty && rep.Held == "" && !rep.Idle() && !unread(rep.Repos()):
		fmt.Fprintln(out.w, "no turn was needed; gh mergexo status shows where everything stands")
	}
	a.printTrouble(rep.Repos())
	return failedRepos(rep.Repos(), len(cfg.Repos))
}

// unread reports whether a repository could not be read: that is told instead.
func unread(repos []tick.RepoReport) bool {
	return slices.ContainsFunc(repos, func(r tick.RepoReport) bool { return r.Failed || r.Replaced != "" })
}

func idleNote(rep *tick.Report) string {
	if rep.Skipped != "" {
		return rep.Skipped + "; nothing done"
	}
	return strings.Join(append([]string{"nothing to do"}, waitLines(rep.Repos())...), "\n")
}

func (a *app) printTrouble(repos []tick.RepoReport) {
	for _, line := range causeLines(repos) {
		fmt.Fprintln(a.env.Stderr, line)
	}
	for _, r := range repos {
		if r.Replaced != "" {
			fmt.Fprintf(a.env.Stderr, "%s: %s\n", r.Repo, oneLine(r.Replaced))
		}
		for _, w := range r.Warnings {
			fmt.Fprintf(a.env.Stderr, "%s: %s\n", r.Repo, oneLine(w))
		}
	}
}

func (a *app) dryRun(ctx context.Context, cfg *config.Config, pass *tick.Pass, opt *tickOptions) error {
	preview, err := pass.DryRun(ctx)
	if err != nil {
		return err
	}
	out := newOutput(a.env)
	lines := planLines(cfg, preview)
	if opt.json.asked() {
		err := opt.json.write(out, map[string]any{
			"startedAt": a.now().UTC(), "endedAt": a.now().UTC(), "skipped": "", "repositories": orEmpty(preview.Repos), "turns": []any{}, "plan": orEmpty(lines), "held": "", "paused": nil,
		})
		return errors.Join(err, failedRepos(preview.Repos, len(cfg.Repos)))
	}
	rows := each(lines, func(l planLine) []string {
		return []string{l.item(), l.What, string(l.Kind), out.local(l.Reason)}
	})
	if len(rows) > 0 {
		if err := out.told([]string{"ITEM", "WHAT", "TURN", "REASON"}, rows); err != nil {
			return err
		}
	} else if out.tty {
		fmt.Fprintln(out.w, "nothing to do")
	}
	if slices.ContainsFunc(lines, func(l planLine) bool { return l.What == "turn" || l.What == "resume" }) {
		if err := pass.Preflight(ctx); err != nil {
			fmt.Fprintln(a.env.Stderr, "a pass would stop here:", err)
		}
	}
	for _, line := range waitLines(preview.Repos) {
		fmt.Fprintln(a.env.Stderr, out.local(line)+"; planned from what is known")
	}
	a.printTrouble(preview.Repos)
	return failedRepos(preview.Repos, len(cfg.Repos))
}

// planLine is a line of a plan with its repository.
type planLine struct {
	Repo string `json:"repo"`
	plan.Line
}

// item is the issue or pull request that a line is about, or the repository.
func (l planLine) item() string {
	if l.Number == 0 {
		return l.Repo
	}
	return l.Repo + "#" + strconv.Itoa(l.Number)
}

func planLines(cfg *config.Config, p *tick.Preview) []planLine {
	var lines []planLine
	for _, r := range p.Recovered {
		lines = append(lines, planLine{r.Repo, r.Line})
	}
	for _, plan := range p.Plans {
		for _, l := range plan.Lines {
			lines = append(lines, planLine{cfg.Called(plan.Repo.Name), l})
		}
	}
	return lines
}

// only reads --repo.
func (o *tickOptions) only(cfg *config.Config) (*work.RepoName, error) {
	if o.repo == "" {
		return nil, nil
	}
	wanted, err := repos(cfg, o.repo)
	if err != nil {
		return nil, err
	}
	return &wanted[0], nil
}

// orEmpty makes JSON's [] of a nil list.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
