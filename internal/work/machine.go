package work

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Machine is one of the machines whose passes share a database, as it describes itself.
type Machine struct {
	Name         string // by which the others know it
	Installation string // its state folder, by a name that is no other's
	Host         string // its host name, for people
	Version      string // of the program; empty: not a release
	Config       string // what of its config should be alike on all machines: by repository, a hash of each part, as JSON; empty: not known

	BeganAt     time.Time     // when a pass last began there
	GoodAt      time.Time     // when one last ended that read a repository; zero: none did
	Failures    int           // how many failed in a row since
	Why         string        // why the last of these failed
	SilentAfter time.Duration // after how long without a pass something is wrong there
	Stopped     MachineStop   // how a person stopped its passes; empty: nobody did
}

// MachineStop is how a person stopped a machine's passes, so that nobody misses them. The next pass
// ends it.
type MachineStop string

// The ways in which passes are stopped.
const (
	MachinePaused      MachineStop = "paused"      // that machine alone: `pause --all` did not reach the database
	MachineUnscheduled MachineStop = "unscheduled" // its schedule was removed
)

// MachineNoteEvery is how old the row of a machine may become whose passes go on as before, where other
// machines read it.
const MachineNoteEvery = 5 * time.Minute

// Differs reports whether something changed of a machine besides the times of its passes.
func (m Machine) Differs(known Machine) bool {
	return m.Stopped != known.Stopped || m.Installation != known.Installation || m.Host != known.Host || m.Version != known.Version || m.Config != known.Config ||
		(m.Failures > 0) != (known.Failures > 0) || m.Why != known.Why
}

// Unlike returns a text for another machine than here whose config differs in what both share, and what to
// type; empty: it does not. Programs of different versions know different keys.
func (m Machine) Unlike(here Machine) (says, do string) {
	var ours, theirs map[string]map[string]string
	if m.Version != here.Version || json.Unmarshal([]byte(m.Config), &theirs) != nil || json.Unmarshal([]byte(here.Config), &ours) != nil {
		return "", ""
	}
	all := maps.Clone(ours)
	maps.Copy(all, theirs)
	var parts []string
	for _, repo := range slices.Sorted(maps.Keys(all)) {
		switch {
		case ours[repo] == nil:
			parts = append(parts, "the repository "+repo+" is only there")
		case theirs[repo] == nil:
			parts = append(parts, "the repository "+repo+" is only here")
		}
		for _, part := range slices.Sorted(maps.Keys(ours[repo])) {
			if hash, both := theirs[repo][part]; both && hash != ours[repo][part] {
				parts = append(parts, part+" of "+repo)
			}
		}
	}
	if len(parts) == 0 {
		return "", ""
	}
	return fmt.Sprintf("the config of machine %s differs from this machine's in what they share: %s", m.Called(), strings.Join(parts, ", ")),
		"make them equal; each prints its own with gh mergexo config"
}

// Silence returns after how long without a pass a machine counts as silent. every is the time since
// its last pass ended: it follows the schedule, also one of another program.
func Silence(every time.Duration) time.Duration {
	return MachineNoteEvery + max(leastSlack, 3*min(every, 24*time.Hour))
}

// Silent returns since when the machine is silent; false: it is not. One whose passes a person
// stopped is not.
func (m Machine) Silent(now time.Time) (since time.Time, silent bool) {
	since = m.BeganAt.Add(m.SilentAfter)
	return since, m.Stopped == "" && !m.BeganAt.IsZero() && now.After(since)
}

// Failing reports whether its passes fail for longer than one of them may by itself.
func (m Machine) Failing() bool { return m.Failures >= FailingPasses }

// Called returns the machine's name, with its host name if that is another one.
func (m Machine) Called() string {
	if m.Host == "" || m.Host == m.Name {
		return m.Name
	}
	return m.Name + " (" + m.Host + ")"
}

// Says returns a text for a machine that is silent or whose passes fail, and what to type; empty:
// neither.
func (m Machine) Says(now time.Time) (says, do string) {
	_, silent := m.Silent(now)
	switch {
	case silent:
		return fmt.Sprintf("machine %s is silent: no pass has begun there since %s", m.Called(), Stamp(m.BeganAt)),
			fmt.Sprintf("look at it there: gh mergexo status; if it is gone for good: gh mergexo machines forget %s", m.Name)
	case m.Failing():
		return fmt.Sprintf("machine %s: %s: %s", m.Called(), inARow(m.Failures), m.Why), "see what it says there: gh mergexo tick"
	}
	return "", ""
}

// Namesake returns a text for a machine that is another one than here, by the same name, and what to type.
func (m Machine) Namesake() (says, do string) {
	return fmt.Sprintf("another state folder, on host %s, goes by the name of this machine, %s: a pass began there at %s", m.Host, m.Name, Stamp(m.BeganAt)),
		`give one of the two machines another name: machine = "NAME" below [runtime] in its config`
}
