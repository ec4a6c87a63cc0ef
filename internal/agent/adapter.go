package agent

import (
	"fmt"
	"path/filepath"
	"time"
)

// Adapter is one kind of agent. Each has a package below this one. Zero fields do not apply.
type Adapter struct {
	Name string // required; also the default name of its program
	// New makes an agent. Required.
	New func(Spec) (Agent, error)

	Install  string   // the command that installs its program
	Env      []string // added to the environment that every agent sees
	Releases Releases // of its program

	// Variable names the environment variable of the folder in which its program keeps its login
	// and sessions; InHome are the paths below HOME that it uses when the variable is unset.
	Variable string
	InHome   []string
	// Settings are the files below HOME that its program only reads, in folders that it may fill in a
	// home of its own: what an agent wrote there, the program would obey outside of the sandbox, too.
	Settings []string
	Sessions Sessions // below that folder

	// Tool reports whether its program takes MCP servers in such a run, and so is offered the tool for
	// the answer. Nil: never.
	Tool func(r Request) bool

	NoCost bool // its program reports tokens but no cost

	// Login reports whether the program is logged in. Nil: unknown.
	Login func(Spec) Login

	// Step interprets a line of output: progress, trouble, commands. Nil: the program prints
	// nothing until it ends.
	Step func(line []byte) Step
	// Recorded reads the usage of a run that began at that time from the program's own record of
	// the session; see the function Recorded.
	Recorded func(s Spec, r Request, began time.Time) Used
}

func New(s Spec) (Agent, error) {
	if s.Adapter.New == nil {
		return nil, fmt.Errorf("agent %q: there is no adapter %q", s.Name, s.Adapter.Name)
	}
	s = s.redacting()
	a, err := s.Adapter.New(s)
	if err != nil || s.Adapter.Tool == nil {
		return a, err
	}
	return withTool{Agent: a, spec: s}, nil
}

// redacting returns the spec with a Redact that may be called.
func (s Spec) redacting() Spec {
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	return s
}

// Homes returns the folders in which the adapter's program keeps its login and sessions under this
// environment. They must stay writable in a sandbox. Claude without such a variable also has a file
// beside its folder.
func (a Adapter) Homes(environ []string) []string {
	if a.Variable != "" {
		if dir := Lookup(environ, a.Variable); dir != "" {
			return absolute(dir)
		}
	}
	return below(environ, a.InHome)
}

// Reads returns the paths of Settings under this environment.
func (a Adapter) Reads(environ []string) []string { return below(environ, a.Settings) }

// below returns paths below the home folder.
func below(environ, names []string) []string {
	var all []string
	for _, name := range names {
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

// Variables returns the names of environment variables that the adapter's program must see in
// addition to those that every agent sees.
func (a Adapter) Variables() []string {
	if a.Variable == "" {
		return nil
	}
	return []string{a.Variable}
}
