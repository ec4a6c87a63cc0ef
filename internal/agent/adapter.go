package agent

import (
	"fmt"
	"path/filepath"
	"time"
)

// Adapter is one kind of agent: a package below this one says it. What is zero does
// not apply.
type Adapter struct {
	Name string // required; also of its program, where the config names none
	// New makes an agent. It is required.
	New func(Spec) (Agent, error)

	Install  string   // the command that installs its program
	Env      []string // what its program sees beside what every agent sees
	Releases Releases // of its program

	// Variable names the folder in which its program keeps its login and its sessions;
	// InHome are what it uses below HOME otherwise.
	Variable string
	InHome   []string
	Sessions Sessions // in that folder

	// Login tells whether its program is logged in. Nil: nothing is known of that.
	Login func(Spec) Login

	// Step says what a line of output means for a run's life. Nil: it says nothing until
	// its end.
	Step func(line []byte) Step
	// Recorded is what the program's own record of a session says of a run that began
	// then; see the function Recorded.
	Recorded func(s Spec, r Request, began time.Time) Used
}

// New makes an agent.
func New(s Spec) (Agent, error) {
	if s.Adapter.New == nil {
		return nil, fmt.Errorf("agent %q: there is no adapter %q", s.Name, s.Adapter.Name)
	}
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	return s.Adapter.New(s)
}

// Homes are the folders in which an adapter's program keeps its login and its
// sessions, as an environment says: they must stay writable in a sandbox. A
// claude that was told of no folder also has a file beside its own.
func (a Adapter) Homes(environ []string) []string {
	if a.Variable == "" {
		return nil
	}
	if dir := Lookup(environ, a.Variable); dir != "" {
		return absolute(dir)
	}
	var all []string
	for _, name := range a.InHome {
		all = append(all, absolute(filepath.Join(Lookup(environ, "HOME"), name))...)
	}
	return all
}

func absolute(path string) []string {
	if !filepath.IsAbs(path) {
		return nil
	}
	return []string{filepath.Clean(path)}
}

// Variables are what an adapter's program must see of the environment, beside
// what every agent sees.
func (a Adapter) Variables() []string {
	if a.Variable == "" {
		return nil
	}
	return []string{a.Variable}
}
