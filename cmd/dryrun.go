package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// dryRun shows what a pass would do.
func (a *app) dryRun(ctx context.Context, cfg *config.Config, pass *tick.Pass, opt *tickOptions) error {
	preview, err := pass.DryRun(ctx)
	if err != nil {
		return err
	}
	if preview.Halt != nil {
		return a.printHalted(preview.Halt, opt, cfg)
	}
	out := a.Output()
	lines := planLines(cfg, preview)
	if a.JSON.Asked() {
		now := a.Now()
		err := a.writePass(passView{StartedAt: now, EndedAt: now, Repos: preview.Repos, Plan: lines})
		return errors.Join(err, failedRepos(preview.Repos, len(cfg.Repos)))
	}
	rows := terminal.Each(lines, func(l planLine) []string {
		return []string{l.item(), l.What, out.Words(string(l.Kind)), out.Ours(l.Reason)}
	})
	if len(rows) > 0 {
		if err := out.Table([]string{"ITEM", "WHAT", "TURN", "REASON"}, rows); err != nil {
			return err
		}
	} else if out.TTY || opt.read {
		fmt.Fprintln(out.W, "nothing to do")
	}
	for _, line := range a.otherPasses(ctx, cfg) {
		fmt.Fprintln(a.Env.Stderr, out.Ours(line))
	}
	if slices.ContainsFunc(lines, func(l planLine) bool { return l.What == "turn" || l.What == "resume" }) {
		if err := pass.Preflight(ctx); err != nil {
			fmt.Fprintln(a.Env.Stderr, "a pass would stop here:", err)
		}
	}
	for _, line := range waitLines(preview.Repos) {
		fmt.Fprintln(a.Env.Stderr, out.Ours(line)+"; planned from what is known")
	}
	a.printTrouble(preview.Repos, nil)
	return failedRepos(preview.Repos, len(cfg.Repos))
}

// otherPasses tells that passes run now: what one of them does next is not in the plan.
func (a *app) otherPasses(ctx context.Context, cfg *config.Config) []string {
	if works := status.OtherPasses(ctx, a.App, cfg); len(works) > 0 {
		return works
	}
	facts, err := folder.Dirs{State: cfg.Runtime.StateDir}.Passes(cfg.PassLimits(), a.Now())
	if err != nil {
		return nil
	}
	running := slices.DeleteFunc(facts.Begun, func(b work.Beginning) bool { return b.Gone })
	return terminal.Each(running, func(b work.Beginning) string {
		return fmt.Sprintf("another pass is running since %s (process %d), and may do this first", work.Stamp(b.At), b.PID)
	})
}

// planLine is a line of a plan with its repository.
type planLine struct {
	Repo string `json:"repo"`
	change.Line
}

// item returns the issue or pull request that a line concerns, or else the repository.
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
	for _, made := range p.Plans {
		for _, l := range made.Lines() {
			if l := (planLine{cfg.Called(made.Repo.Name), l}); !l.waitsForResumed(p.Recovered) {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// waitsForResumed reports whether the line only tells of a turn in progress that another line
// already reports as resuming, now or with a free slot.
func (l planLine) waitsForResumed(recovered []tick.Recovered) bool {
	return l.What == "wait" && slices.ContainsFunc(recovered, func(r tick.Recovered) bool {
		return r.Repo == l.Repo && (r.What == "resume" || r.Code == work.WhyNoSlot) && r.Number == l.Number && r.Kind == l.Kind
	})
}
