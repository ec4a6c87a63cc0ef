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
	Name     string        `json:"name"`
	Host     string        `json:"host"`
	This     bool          `json:"this"` // the command runs there
	Version  string        `json:"version"`
	LastPass terminal.Time `json:"lastPass"`     // when one began there last, to within some minutes
	LastGood terminal.Time `json:"lastGood"`     // when one last ended that read a repository
	State    MachineState  `json:"state"`        // `works`, `failing`, `silent`, `paused` (it alone), `unscheduled` or `namesake` (another state folder goes by this name: passes here are refused)
	Error    string        `json:"error"`        // of its last pass
	Turns    []string      `json:"turns"`        // the issues and pull requests that a pass there works on now
	Repos    []string      `json:"repositories"` // for which it was the last to plan a turn
}

// MachineState is how a machine's passes do. That a person stopped them is a work.MachineStop.
type MachineState string

// The others.
const (
	machineWorks    MachineState = "works"
	machineFails    MachineState = "failing"
	machineSilent   MachineState = "silent"
	machineNamesake MachineState = "namesake"
)

// Says is the state in a few words.
func (m Machine) Says() string {
	switch m.State {
	case machineNamesake:
		return "another state folder"
	case machineFails:
		return "passes fail: " + m.Error
	case machineWorks, machineSilent:
	}
	return string(m.State)
}

// stateOf judges a machine's passes.
func stateOf(m work.Machine, namesake bool, now time.Time) MachineState {
	_, silent := m.Silent(now)
	switch {
	case namesake:
		return machineNamesake
	case silent:
		return machineSilent
	case m.Stopped != "":
		return MachineState(m.Stopped)
	case m.Failures > 0:
		return machineFails
	}
	return machineWorks
}

// LoadMachines reads the machines, by name. now is by this machine's clock.
func LoadMachines(ctx context.Context, tx *store.Tx, cfg *config.Config, now time.Time) ([]Machine, error) {
	here := cli.ThisMachine(cfg)
	clocks, err := tx.ListClocks(ctx, here)
	if err != nil {
		return nil, err
	}
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return nil, err
	}
	remembered, err := folder.At(cfg.Runtime.StateDir).Fleet()
	if err != nil {
		return nil, err
	}
	_, namesake := remembered.Namesake(here, known)
	live, err := loadLiveTurns(ctx, tx, cfg.Runtime.StateDir, here, now)
	if err != nil {
		return nil, err
	}
	if len(cfg.Repos) > 0 { // as passes reckon, whose times these are
		now = now.Add(-clocks[cfg.Repos[0].Name.Host])
	}
	repos, err := tx.ListRepos(ctx)
	return terminal.Each(known, func(m work.Machine) Machine {
		v := Machine{
			Name: m.Name, Host: m.Host, This: m.Name == here, Version: m.Version, LastPass: terminal.Stamp(m.BeganAt), LastGood: terminal.Stamp(m.GoodAt),
			State: stateOf(m, namesake && m.Name == here, now), Error: m.Why, Turns: []string{}, Repos: []string{},
		}
		called := map[int64]string{}
		for _, r := range repos {
			called[r.ID] = cfg.Called(r.Name)
			if r.Machine == m.Name && r.RemovedAt.IsZero() {
				v.Repos = append(v.Repos, called[r.ID])
			}
		}
		for _, t := range live.unfinished {
			if t.Machine == m.Name && live.works(t, true) {
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
