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
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
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
	fleet := store.Fleet{}
	_, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		known, err := tx.ListRepos(ctx)
		if err != nil {
			return err
		}
		strangers, err := tx.ListOtherInstallations(ctx)
		if err != nil {
			return err
		}
		for i, r := range cfg.Repos {
			row := cli.FindRepo(known, r.Name)
			for _, s := range strangers {
				if row.ID != 0 && s.RepoID == row.ID {
					f.Repos[i].Others = append(f.Repos[i].Others, doctor.Other{Account: s.Login, At: s.At})
				}
			}
		}
		machines, err := tx.ListMachines(ctx)
		if err != nil {
			return err
		}
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
		for _, line := range cli.MachinesOf(machines).Unlike(cli.ThisMachine(cfg)) {
			f.Unlike = append(f.Unlike, doctor.Trouble{Says: line[0], Do: line[1]})
		}
		if f.Namesake, err = namesake(cfg, machines, f.Now); err != nil {
			return err
		}
		if fleet, err = tx.GetFleet(ctx); err != nil {
			return err
		}
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
		return nil
	})
	f.LimitsCost = err == nil && cfg.Runtime.Budgets.LimitCost()
	if moved, is := errors.AsType[*store.MovedError](fleet.Moved()); is && f.Database != nil {
		f.Database.Trouble, f.Database.Do = moved.Says(), moved.Do()
	}
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
