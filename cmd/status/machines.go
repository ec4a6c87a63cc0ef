package status

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Machine is a machine whose passes use the database.
type Machine struct {
	Name     string           `json:"name"`         // the name that `machines forget` takes
	Host     string           `json:"host"`         // its host name
	This     bool             `json:"this"`         // whether the command runs there
	Version  string           `json:"version"`      // of the program
	Began    terminal.Time    `json:"began"`        // when a pass last began there, to within some minutes
	LastGood terminal.Time    `json:"lastGood"`     // when one last ended that read a repository, to within some minutes; null: none did
	Namesake bool             `json:"namesake"`     // whether another state folder than this machine's goes by this machine's name: passes here are refused
	Silent   bool             `json:"silent"`       // whether no pass has begun there for much longer than usual
	Stopped  work.MachineStop `json:"stopped"`      // how a person stopped its passes: `paused`, that machine alone; `unscheduled`; empty: nobody did
	Failures int              `json:"failures"`     // how many passes have failed there in a row
	Error    string           `json:"error"`        // why the last of these failed
	Turns    []string         `json:"turns"`        // issues and pull requests of the turns that a pass there works on now
	Repos    []string         `json:"repositories"` // repositories for which it was the last to plan a turn

	Trouble string `json:"trouble"` // what is wrong there, for people; empty: nothing
}

// Says is how the machine's passes do, in a few words.
func (m Machine) Says() string {
	switch {
	case m.Namesake:
		return "another state folder"
	case m.Silent:
		return "silent"
	case m.Stopped != "":
		return string(m.Stopped)
	case m.Failures > 0:
		return "passes fail: " + m.Error
	}
	return "works"
}

// LoadMachines reads the machines, by name. now is by this machine's clock.
func LoadMachines(ctx context.Context, tx *store.Tx, cfg *config.Config, now time.Time) ([]Machine, error) {
	here := cli.ThisMachine(cfg)
	clocks, err := tx.ListClocks(ctx, here)
	if err != nil {
		return nil, err
	}
	if len(cfg.Repos) > 0 { // as passes reckon, whose times these are
		now = now.Add(-clocks[cfg.Repos[0].Name.Host])
	}
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return nil, err
	}
	dirs := folder.At(cfg.Runtime.StateDir)
	remembered, err := dirs.Fleet()
	if err != nil {
		return nil, err
	}
	_, namesake := remembered.Namesake(here, known)
	turns, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return nil, err
	}
	held, err := tx.Locks(ctx)
	if err != nil {
		return nil, err
	}
	live, err := dirs.LiveTurns()
	if err != nil {
		return nil, err
	}
	worksOn := func(t work.Turn) bool { // else its pass died, or was ended
		if _, is := live[t.Key]; is || held.Shared() || t.Machine == here {
			return is || held.Has(store.TurnLock(t))
		}
		return true // where no server has the locks, another machine's cannot be seen
	}
	repos, err := tx.ListRepos(ctx)
	return terminal.Each(known, func(m work.Machine) Machine {
		v := Machine{
			Name: m.Name, Host: m.Host, This: m.Name == here, Version: m.Version, Began: terminal.Stamp(m.BeganAt), LastGood: terminal.Stamp(m.GoodAt),
			Stopped: m.Stopped, Failures: m.Failures, Error: m.Why, Turns: []string{}, Repos: []string{},
		}
		_, v.Silent = m.Silent(now)
		v.Namesake = namesake && v.This
		if v.Trouble, _ = m.Says(now); v.Namesake {
			v.Trouble, _ = m.Namesake()
		}
		called := map[int64]string{}
		for _, r := range repos {
			called[r.ID] = cfg.Called(r.Name)
			if r.Machine == m.Name && r.RemovedAt.IsZero() {
				v.Repos = append(v.Repos, called[r.ID])
			}
		}
		for _, t := range turns {
			if t.Machine == m.Name && worksOn(t) {
				v.Turns = append(v.Turns, fmt.Sprintf("%s#%d", called[t.RepoID], t.Number))
			}
		}
		return v
	}), err
}

// ReadMachines is LoadMachines in a transaction of its own; seen is false if no pass has run.
func ReadMachines(ctx context.Context, a *cli.App, cfg *config.Config) (all []Machine, seen bool, err error) {
	all = []Machine{}
	now := a.Now()
	seen, err = machine.View(ctx, cfg, func(tx *store.Tx) (err error) {
		all, err = LoadMachines(ctx, tx, cfg, now)
		return err
	})
	return all, seen, err
}
