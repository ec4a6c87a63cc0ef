package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/change"
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
		return []string{l.item(), l.What, string(l.Kind), out.Ours(l.Reason)}
	})
	if len(rows) > 0 {
		if err := out.Table([]string{"ITEM", "WHAT", "TURN", "REASON"}, rows); err != nil {
			return err
		}
	} else if out.TTY || opt.read {
		fmt.Fprintln(out.W, "nothing to do")
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
// already reports as resuming.
func (l planLine) waitsForResumed(recovered []tick.Recovered) bool {
	return l.What == "wait" && slices.ContainsFunc(recovered, func(r tick.Recovered) bool {
		return r.Repo == l.Repo && r.What == "resume" && r.Number == l.Number && r.Kind == l.Kind
	})
}
