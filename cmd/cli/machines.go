package cli

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
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

// Silent returns, for people, each machine without a pass for too long or for whose journals turns wait,
// and what to type.
func (m Machines) Silent(now time.Time) (lines [][2]string) {
	for _, one := range m {
		if _, silent := one.Silent(now); silent {
			says, do := one.Says()
			lines = append(lines, [2]string{says, do})
		}
		if says, do := one.Awaited(); says != "" {
			lines = append(lines, [2]string{says, do})
		}
	}
	return lines
}
