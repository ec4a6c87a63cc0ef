// Package cmd is the command line of gh mergexo. A command turns flags into a
// call, and what the call answers into tables, TSV or JSON in gh's manner.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
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

	bare    io.Writer // standard output for programs: nothing is made legible
	bareErr io.Writer // standard error for a program that we run in our place
}

// The exit codes, as gh has them.
const (
	exitOK        = 0
	exitError     = 1
	exitCancelled = 2
	exitAuth      = 4
)

// newOutput is where a command's results go.
func newOutput(env Env) terminal.Output { return terminal.Open(env.Stdout, env.bare) }

// app is what the commands share.
type app struct {
	env        Env
	now        func() time.Time
	configPath string // --config
	stateDir   string // once the config is read

	once  sync.Once
	known *secrets.Redactor
}

// secrets is the program's one redactor. The tokens of this machine are read at
// its first use.
func (a *app) secrets() *secrets.Redactor {
	a.once.Do(func() {
		a.known = &secrets.Redactor{}
		for value, what := range config.Environ().Secrets() {
			a.known.Add(value, what)
		}
		a.known.Add(github.StoredToken(github.DefaultHost()), "gh's token")
	})
	return a.known
}

// cautious writes without secrets.
type cautious struct {
	to io.Writer
	a  *app
}

func (w cautious) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.a.secrets().Redact(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Main runs the command line and returns the exit code. The first SIGINT or
// SIGTERM cancels the context; a second one ends the process at once.
func Main(env Env) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &app{env: env, now: env.Now}
	if a.now == nil {
		a.now = time.Now
	}
	stdout, stderr := terminal.NewScreen(env.Stdout), terminal.NewScreen(env.Stderr)
	defer stdout.Flush()
	defer stderr.Flush()
	a.env.bare, a.env.bareErr = env.Stdout, env.Stderr
	a.env.Stdout, a.env.Stderr = stdout, cautious{to: stderr, a: a}
	ran, err := newRootCmd(a).ExecuteContextC(ctx)
	if err != nil {
		a.report(ran, err)
	}
	return exitCode(err)
}

// report says on standard error why the run failed.
func (a *app) report(ran *cobra.Command, err error) {
	if _, ended := errors.AsType[*codeError](err); ended || errors.Is(err, context.Canceled) {
		return
	}
	if line := machine.DiskTrouble(err, a.stateDir); line != "" {
		fmt.Fprintln(a.env.Stderr, "gh mergexo:", line)
		return
	}
	fmt.Fprintln(a.env.Stderr, "gh mergexo:", err)
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprint(a.env.Stderr, ran.UsageString())
	}
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitCancelled
	case notLoggedIn(err):
		return exitAuth
	}
	if ended, ok := errors.AsType[*codeError](err); ok {
		return ended.code
	}
	return exitError
}

// codeError passes the exit code of another program on, which has said why.
type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprintf("ended with exit code %d", e.code) }

func notLoggedIn(err error) bool {
	if all, ok := errors.AsType[*unreadError](err); ok {
		return all.login
	}
	_, ok := errors.AsType[*github.NotLoggedInError](err)
	return ok
}

// usageError says that the command line is wrong; where to read about the command
// is said with it.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }
