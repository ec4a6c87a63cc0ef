package work

import (
	"fmt"
	"time"
)

// Machine is one of the machines whose passes share a database, as it describes itself.
type Machine struct {
	Name         string // by which the others know it
	Installation string // its state folder, by a name that is no other's
	Host         string // its host name, for people
	Version      string // of the program; empty: not a release

	BeganAt     time.Time     // when a pass last began there
	GoodAt      time.Time     // when one last ended that read a repository; zero: none did
	Failures    int           // how many failed in a row since
	Why         string        // why the last of these failed
	SilentAfter time.Duration // after how long without a pass something is wrong there

	Unread int // mirrors whose journals it has yet to compare with the database; only where it is read
}

// MachineNoteEvery is how old the row of a machine may become whose passes go on as before, where other
// machines read it.
const MachineNoteEvery = 5 * time.Minute

// Differs reports whether something changed of a machine besides the times of its passes.
func (m Machine) Differs(known Machine) bool {
	return m.Installation != known.Installation || m.Host != known.Host || m.Version != known.Version ||
		(m.Failures > 0) != (known.Failures > 0) || m.Why != known.Why
}

// Silence returns after how long without a pass a machine counts as silent. every is the time since
// its last pass ended: it follows the schedule, also one of another program. A pass that lets no
// other one begin may take pass; 0: passes overlap.
func Silence(every, pass time.Duration) time.Duration {
	return MachineNoteEvery + max(leastSlack, 3*min(every, 24*time.Hour)) + pass
}

// Silent returns since when the machine is silent; false: it is not.
func (m Machine) Silent(now time.Time) (since time.Time, silent bool) {
	since = m.BeganAt.Add(m.SilentAfter)
	return since, !m.BeganAt.IsZero() && now.After(since)
}

// Called returns the machine's name, with its host name if that is another one.
func (m Machine) Called() string {
	if m.Host == "" || m.Host == m.Name {
		return m.Name
	}
	return m.Name + " (" + m.Host + ")"
}

// Says returns a text for a silent machine, and what to type.
func (m Machine) Says() (says, do string) {
	return fmt.Sprintf("machine %s is silent: no pass has begun there since %s", m.Called(), Stamp(m.BeganAt)),
		fmt.Sprintf("look at it there with gh mergexo status; if it is gone for good: gh mergexo machines forget %s", m.Name)
}

// Awaited returns a text for a machine whose journals turns wait for, and what to type; empty: none do.
func (m Machine) Awaited() (says, do string) {
	if m.Unread == 0 {
		return "", ""
	}
	return fmt.Sprintf("turns wait for a pass on machine %s: the database was lost or set back, and that machine may have answers that agents were paid for", m.Called()),
		fmt.Sprintf("run gh mergexo tick there; if it is gone for good: gh mergexo machines forget %s", m.Name)
}
