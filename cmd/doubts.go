package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/tick"
)

// doubts are what the config names for the agents that are used, and this machine
// does not have.
func doubts(cfg *config.Config) []string {
	env := config.Environ()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if !usedAgent(cfg, name) {
			continue
		}
		for _, d := range cfg.Doubts(env, cfg.Agents[name]) {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// tellDoubts prints them where somebody watches, and logs them where agents worked
// without: under cron the environment is another one than a terminal's.
func (a *app) tellDoubts(ctx context.Context, out terminal.Output, cfg *config.Config, pass *tick.Pass, worked bool) {
	if !worked && !out.TTY {
		return
	}
	for _, d := range doubts(cfg) {
		if out.TTY {
			fmt.Fprintln(a.env.Stderr, d)
		}
		if worked {
			pass.Log.WarnContext(ctx, "the config names what is not there", "what", d)
		}
	}
}
