package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// ThisMachine returns this machine's name; empty: no pass has run, or the state folder cannot be
// read, which others report.
func ThisMachine(cfg *config.Config) string {
	name, _ := folder.At(cfg.Runtime.StateDir).MachineName(cfg.Runtime.Machine)
	return name
}

// Machines are those that share a database; none if only one has it.
type Machines []work.Machine

// MachinesOf returns the machines of a database, unless there is only one.
func MachinesOf(known []work.Machine) Machines {
	if len(known) < 2 {
		return nil
	}
	return known
}

// Called returns a machine's name with its host name; empty if there is only one machine.
func (m Machines) Called(name string) string {
	for _, one := range m {
		if one.Name == name {
			return one.Called()
		}
	}
	if len(m) == 0 {
		return ""
	}
	return name // forgotten
}

// Troubles returns, for people, each machine that is silent, and each other one than here whose passes fail or
// whose config differs, with what to type.
func (m Machines) Troubles(here string, now time.Time) (lines [][2]string) {
	for _, one := range m {
		if _, silent := one.Silent(now); !silent && one.Name == here {
			continue // status and doctor have more to say about its passes
		}
		if says, do := one.Says(now); says != "" {
			lines = append(lines, [2]string{says, do})
		}
	}
	return append(lines, m.Unlike(here)...)
}

// Unlike returns each other machine than here whose config differs in what both share, with what to type.
func (m Machines) Unlike(here string) (lines [][2]string) {
	i := slices.IndexFunc(m, func(one work.Machine) bool { return one.Name == here })
	for _, one := range m {
		if i < 0 || one.Name == here {
			continue
		}
		if says, do := one.Unlike(m[i]); says != "" {
			lines = append(lines, [2]string{says, do})
		}
	}
	return lines
}

// WithFleet runs fn in a transaction of the database that machines share; shared is false if this one
// shares none. It does not wait long: a person who pauses everything has no time.
func (a *App) WithFleet(ctx context.Context, cfg *config.Config, fn func(*store.Tx) error) (shared bool, err error) {
	m, err := a.Machine(cfg)
	if err != nil || !m.Shared() {
		return false, err
	}
	return true, updateWithin(ctx, m, fn)
}

// WithFormerFleet is WithFleet also for the database of one machine that has what holds for several
// machines, from a time when it was shared.
func (a *App) WithFormerFleet(ctx context.Context, cfg *config.Config, fn func(*store.Tx) error) (shared bool, err error) {
	m, err := a.Machine(cfg)
	if err != nil || !m.Shared() && !wasShared(ctx, cfg) {
		return false, err
	}
	return true, updateWithin(ctx, m, fn)
}

// WithDatabase runs fn in a transaction of the database; seen is false if there is none yet.
func (a *App) WithDatabase(ctx context.Context, cfg *config.Config, fn func(*store.Tx) error) (seen bool, err error) {
	if seen, err = machine.View(ctx, cfg, func(*store.Tx) error { return nil }); err != nil || !seen {
		return seen, err
	}
	m, err := a.Machine(cfg)
	if err != nil {
		return true, err
	}
	return true, updateWithin(ctx, m, fn)
}

func updateWithin(ctx context.Context, m *machine.Machine, fn func(*store.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, fleetTime)
	defer cancel()
	db, err := m.OpenShared(ctx)
	if err == nil {
		err = errors.Join(db.Update(ctx, func(tx *store.Tx) error {
			fleet, err := tx.GetFleet(ctx)
			if err = cmp.Or(err, fleet.Moved()); err != nil { // what would be written is lost
				return err
			}
			return fn(tx)
		}), db.Close())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it does not answer within %s", fleetTime)
	}
	return err
}

// wasShared reports whether a database has a pause of all machines, says where it was moved to, or knows
// other machines.
func wasShared(ctx context.Context, cfg *config.Config) (was bool) {
	_, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		fleet, err := tx.GetFleet(ctx)
		if err != nil {
			return err
		}
		known, err := tx.ListMachines(ctx)
		was = !fleet.PausedAt.IsZero() || fleet.MovedTo != "" || len(known) > 1
		return err
	})
	return err == nil && was
}

// fleetTime bounds updateWithin.
const fleetTime = 10 * time.Second
