package doctor

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// repositories returns those of the config, with their requirements for merges.
func repositories(cfg *config.Config) []doctor.Repo {
	var all []doctor.Repo
	for _, r := range cfg.Repos {
		all = append(all, doctor.Repo{Name: cfg.Called(r.Name), Host: r.Name.Host, Gates: gates(r)})
	}
	return all
}

// gates returns the config's requirements for merges, of the flow with the fewest approvals.
func gates(r config.Repo) doctor.Gates {
	g := doctor.Gates{Reviews: r.Review.Enabled, SignOff: r.Voice.SignOff}
	for _, flow := range work.Flows() {
		p := r.MergePolicy(flow)
		if !p.Auto {
			continue
		}
		if !g.AutoMerge || p.Approvers < g.Approvers {
			g.Approvers = p.Approvers
		}
		g.AutoMerge, g.Method, g.Checks = true, p.Method, p.Required
	}
	return g
}

// remember adds what the database and the state folder know. Their own problems have a separate
// check.
func remember(ctx context.Context, cfg *config.Config, f *doctor.Facts) {
	dirs, p := folder.Dirs{State: cfg.Runtime.StateDir}, &doctor.Passes{Budgets: &cfg.Runtime.Budgets}
	_, err := machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		known, err := tx.ListRepos(ctx)
		if err != nil {
			return err
		}
		strangers, err := tx.ListStrangers(ctx)
		if err != nil {
			return err
		}
		day, err := snapshot.Day(ctx, tx, cfg.Runtime.Budgets, f.Now)
		if err != nil {
			return err
		}
		p.Turns, p.Cost = day.Turns, day.CostUSD
		if last, known, err := tx.LastPass(ctx); err != nil {
			return err
		} else if known {
			p.Last, p.Failed, p.Why = last.At, last.Failures, last.Why
		}
		if p.Untold, err = untold(ctx, tx, f.Now); err != nil {
			return err
		}
		for i, r := range cfg.Repos {
			row := looks.FindRepo(known, r.Name)
			p.Last = latest(p.Last, row.LookedAt())
			p.Tried = p.Tried || row.ID != 0
			if err := rememberRepo(ctx, tx, row, strangers, &f.Repos[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return
	}
	if halt, is := dirs.Halted(); is {
		p.Paused = explain.Reason(halt.Reason(), explain.Place{}).What
	}
	f.Passes = p
}

func rememberRepo(ctx context.Context, tx *store.Tx, row work.Repo, strangers []store.Stranger, to *doctor.Repo) error {
	if row.ID == 0 {
		return nil
	}
	to.LastError = row.LastError
	for _, s := range strangers {
		if s.RepoID == row.ID {
			to.Others = append(to.Others, doctor.Other{Account: s.Login, At: s.At})
		}
	}
	halt, stopped, err := tx.MergingStopped(ctx, row.ID)
	if stopped {
		to.Stopped = "merging is stopped: " + explain.Reason(halt.Why, explain.Place{Repo: to.Name}).Here()
	}
	return err
}

// untold returns the notification targets that did not accept the latest messages.
func untold(ctx context.Context, tx *store.Tx, now time.Time) ([]doctor.Untold, error) {
	all, err := tx.ListUntold(ctx, now.Add(-news.MostAge))
	return terminal.Each(all, func(u news.Untold) doctor.Untold {
		return doctor.Untold{Target: u.Target, Count: u.Count, Why: terminal.OneLine(u.LastError)}
	}), err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
