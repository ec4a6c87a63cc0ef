// Package cli holds what all commands share: the process they run in, the config, flags in gh's
// manner, names of items, and errors with their exit codes.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/spf13/cobra"
)

// Env has what a command uses of its process: arguments, standard streams, version and clock.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer        // results
	Stderr  io.Writer        // everything else
	Version string           // of a release build; empty otherwise
	Now     func() time.Time // nil: this machine's clock

	// Demo has the constructors of the commands that only the demo's program has, by their names; nil: another one.
	Demo map[string]func(*App) *cobra.Command

	// Strict, Twice and Shared are for tests: see machine.Options. So is Root, the folder in place of / below
	// which the processes of the machine are looked for; empty: /.
	Strict, Twice, Shared bool
	Root                  string

	Bare    io.Writer // standard output for programs: control characters are not escaped
	BareErr io.Writer // standard error for a program that we run in our place
}

// App holds what the commands share.
type App struct {
	Env        Env
	Now        func() time.Time
	ConfigPath string           // --config
	Commands   []string         // the names of all that speak of the config's installation
	JSON       terminal.JSON    // --json and --jq of the command that runs
	StateDir   string           // set once the config is read
	ErrScreen  *terminal.Screen // under Env.Stderr

	hidden []string // variables of the database, once the config is read
	once   sync.Once
	known  *secrets.Redactor
}

// Output returns where a command's results go.
func (a *App) Output() terminal.Output {
	out := terminal.Open(a.Env.Stdout, a.Env.Bare)
	out.Typed = a.Typed
	return out
}

// Notes returns where anything but results goes: below the results on a terminal, to standard error
// when a program reads them.
func (a *App) Notes(out terminal.Output) io.Writer {
	if out.TTY {
		return a.Telling(out.Lines(out.W))
	}
	return a.Env.Stderr
}

// Progress shows the progress of slow work if standard error is a terminal, else nothing. Close it
// before results are printed.
func (a *App) Progress() *terminal.Progress {
	kind, _ := environ.Read().Lookup("TERM")
	return terminal.NewProgress(a.Env.BareErr, a.ErrScreen, terminal.Watched(a.Env.BareErr) && kind != "dumb")
}

// Secrets returns the program's one redactor. This machine's tokens are read at its first use.
func (a *App) Secrets() *secrets.Redactor {
	a.once.Do(func() {
		a.known = &secrets.Redactor{}
		for value, what := range environ.Read().Secrets(machine.Logins(environ.Read())...) {
			a.known.Add(value, what)
		}
		a.known.Add(github.StoredToken(github.DefaultHost()), "gh's token")
	})
	return a.known
}

// GitHub returns a client of o.Host with gh's login, or with o.Token.
func (a *App) GitHub(o transport.Options) (*github.Client, error) {
	o.Token, o.Now = cmp.Or(o.Token, github.Token(o.Host)), a.Now
	a.Secrets().Add(o.Token, "gh's token")
	return github.New(o)
}

// Machine is this machine as the config describes it.
func (a *App) Machine(cfg *config.Config) (*machine.Machine, error) {
	return machine.Open(machine.Options{Config: cfg, Env: a.Environ(), Secrets: a.Secrets(), Now: a.Now, Strict: a.Env.Strict, Twice: a.Env.Twice, Shared: a.Env.Shared})
}

// CodeError passes on the exit code of another program, which has already printed the reason.
type CodeError struct{ Code int }

func (e *CodeError) Error() string { return fmt.Sprintf("ended with exit code %d", e.Code) }

// UsageError means that the command line is wrong. The message gets a hint where to read about the
// command.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// ErrNothingYet is returned by commands that need the state of a pass before there is one.
var ErrNothingYet = Coded(CodeNoState, errors.New("no pass has run yet; run one: gh mergexo tick"))
