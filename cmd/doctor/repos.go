package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
)

// repositories returns the repositories of the config with their requirements for merges. What
// GitHub knows of them is added later.
func repositories(cfg *config.Config) []doctor.Repo {
	return terminal.Each(cfg.Repos, func(r config.Repo) doctor.Repo {
		return doctor.Repo{Name: cfg.Called(r.Name), Host: r.Name.Host, Gates: gates(r), Unasked: "GitHub is not asked here"}
	})
}

// gates returns the config's requirements for merges, of the flow with the fewest approvals.
func gates(r config.Repo) doctor.Gates {
	g := doctor.Gates{SignOff: r.Voice.SignOff}
	for _, flow := range work.Flows() {
		p := r.MergePolicy(flow)
		if !p.Auto {
			continue
		}
		if !g.AutoMerge || len(p.Approvers) < g.Approvers {
			g.Approvers = len(p.Approvers)
		}
		g.AutoMerge, g.Method, g.Checks = true, p.Method, p.Required
	}
	return g
}

// addStored adds facts from the database and the state folder. A separate check reports problems
// with these two.
func addStored(ctx context.Context, cfg *config.Config, f *doctor.Facts) {
	p, fleet := &doctor.Passes{Budgets: &cfg.Runtime.Budgets}, store.Fleet{}
	_, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		known, err := tx.ListRepos(ctx)
		if err != nil {
			return err
		}
		strangers, err := tx.ListOtherInstallations(ctx)
		if err != nil {
			return err
		}
		ours, signs, err := env.ReadInstallations(ctx, tx, cfg)
		if err != nil {
			return err
		}
		machines, err := tx.ListMachines(ctx)
		if err != nil {
			return err
		}
		p.Others = cli.MachinesOf(machines).Troubles(cli.ThisMachine(cfg), f.Now)
		if f.Database != nil && f.Database.Server != nil {
			f.Database.Server.Machines = len(machines)
		}
		accounts, err := tx.ListAccounts(ctx, work.RoleOperator)
		if err != nil {
			return err
		}
		for i := range f.Hosts {
			h := &f.Hosts[i]
			h.Ours = slices.Concat(h.Ours, terminal.Each(accounts[h.Name], func(a work.Account) int64 { return a.ID }))
		}
		if p.Namesake, err = namesake(cfg, machines, f.Now); err != nil {
			return err
		}
		if fleet, err = tx.GetFleet(ctx); err != nil {
			return err
		}
		day, err := snapshot.Day(ctx, tx, cfg.Runtime.Budgets, f.Now)
		if err != nil {
			return err
		}
		p.Turns, p.Cost, p.UnknownCost = day.Turns, day.CostUSD, day.UnknownCost
		for i := range f.Agents {
			g := &f.Agents[i]
			known, ran, err := tx.UsageKnown(ctx, g.Name, f.Now.AddDate(0, 0, -30))
			if err != nil {
				return err
			}
			g.TokensUnknown = ran && !known.Tokens
			priced := known.Tokens && cfg.Agents[g.Name].Prices != nil // perhaps since the last run
			g.CostUnknown = g.CostUnknown || ran && !known.Cost && !priced
		}
		if p.Undelivered, err = tx.ListUndelivered(ctx, f.Now.Add(-news.MostAge)); err != nil {
			return err
		}
		for i, r := range cfg.Repos {
			row := cli.FindRepo(known, r.Name)
			if err := rememberRepo(ctx, tx, row, strangers, &f.Repos[i]); err != nil {
				return err
			}
			if s, meets := env.Beside(ours, signs, row.ID); meets {
				why := explain.Reason(env.OtherInstallation(r.Name, ours.As, s), explain.Place{})
				f.Repos[i].Beside = &doctor.Trouble{Says: why.What, Do: why.Fix}
			}
		}
		return nil
	})
	if err != nil {
		p.Budgets = nil // what was spent is unknown
	}
	if moved, is := errors.AsType[*store.MovedError](fleet.Moved()); is && f.Database != nil {
		f.Database.Trouble, f.Database.Do = moved.Says(), moved.Do()
	} else if here, err := cli.Halted(cfg); err == nil {
		if halt := env.HaltNow(here, fleet); halt != nil {
			p.Paused = explain.Reason(halt.Reason(), explain.Place{}).What
		}
	}
	f.Passes = p
}

// namesake returns another machine that goes by the name of this one; zero: none does.
func namesake(cfg *config.Config, known []work.Machine, now time.Time) (n doctor.Namesake, err error) {
	if cfg.Runtime.DatabaseKey() == "" {
		return n, nil
	}
	dirs, name := folder.At(cfg.Runtime.StateDir), cli.ThisMachine(cfg)
	remembered, err := dirs.Fleet()
	if err != nil {
		return n, err
	}
	here, err := dirs.Installed(folder.MachineID())
	if err != nil {
		return n, err
	}
	m, refused := remembered.Namesake(name, known)
	_, silent := m.Silent(now)
	if refused = refused && remembered.As == here; !refused && (remembered.As != "" || m.Installation == "" || m.Installation == here || silent) {
		return n, nil
	}
	n.Says, n.Do = m.Namesake()
	n.Refused = refused
	return n, nil
}

func rememberRepo(ctx context.Context, tx *store.Tx, row work.Repo, strangers []store.OtherInstallation, to *doctor.Repo) error {
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
