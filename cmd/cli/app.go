// Package cli is what all commands share: the process they run in, the config, flags in
// gh's manner, names of items, and errors with their exit codes.
package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Env is what a run of the program gets from its process.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer        // results
	Stderr  io.Writer        // everything else
	Version string           // of a release build; empty otherwise
	Now     func() time.Time // the clock; nil: this machine's

	Bare    io.Writer // standard output for programs: nothing is made legible
	BareErr io.Writer // standard error for a program that we run in our place
}

// App is what the commands share.
type App struct {
	Env        Env
	Now        func() time.Time
	ConfigPath string           // --config
	StateDir   string           // once the config is read
	ErrScreen  *terminal.Screen // under Env.Stderr

	once  sync.Once
	known *secrets.Redactor
}

// Output is where a command's results go.
func (a *App) Output() terminal.Output { return terminal.Open(a.Env.Stdout, a.Env.Bare) }

// Notes is where what is no result goes: below the results on a terminal, and beside
// them when they are read by a program.
func (a *App) Notes(out terminal.Output) io.Writer {
	if out.TTY {
		return out.W
	}
	return a.Env.Stderr
}

// Progress shows on a terminal's standard error what takes a while, and nothing
// elsewhere. It is closed before results are printed.
func (a *App) Progress() *terminal.Progress {
	kind, _ := environ.Read().Lookup("TERM")
	return terminal.NewProgress(a.Env.BareErr, a.ErrScreen, terminal.Watched(a.Env.BareErr) && kind != "dumb")
}

// Secrets is the program's one redactor. The tokens of this machine are read at
// its first use.
func (a *App) Secrets() *secrets.Redactor {
	a.once.Do(func() {
		a.known = &secrets.Redactor{}
		for value, what := range environ.Read().Secrets() {
			a.known.Add(value, what)
		}
		a.known.Add(github.StoredToken(github.DefaultHost()), "gh's token")
	})
	return a.known
}

// Machine is this machine as the config describes it.
func (a *App) Machine(cfg *config.Config) (*machine.Machine, error) {
	return machine.Open(machine.Options{Config: cfg, Env: environ.Read(), Secrets: a.Secrets(), Now: a.Now})
}

// CodeError passes the exit code of another program on, which has said why.
type CodeError struct{ Code int }

func (e *CodeError) Error() string { return fmt.Sprintf("ended with exit code %d", e.Code) }

// UsageError says that the command line is wrong; where to read about the command
// is said with it.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// ErrNothingYet says what a command needs that has nothing to work on.
var ErrNothingYet = Coded(CodeNoState, errors.New("there is no state yet: no pass has been made; make one: gh mergexo tick"))

// NoItem says that nothing is known of an item that was named.
func NoItem(called string) error {
	return Coded(CodeUnknownItem, fmt.Errorf("%s is no work item: it has no label yet, or no pass has seen it (gh mergexo tick)", called))
}
