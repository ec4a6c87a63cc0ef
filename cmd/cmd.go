// Package cmd is the command line of gh mergexo. A command turns flags into a call, and the result
// into tables, TSV or JSON in gh's manner.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Env has what a command uses of its process: arguments, standard streams, version and clock.
type Env = cli.Env

// app holds what the commands of this package share.
type app struct{ *cli.App }

// The exit codes are those of gh.
const (
	exitOK        = 0
	exitError     = 1
	exitCancelled = 2
	exitAuth      = 4
	exitClosed    = 141 // as of a program that SIGPIPE ends: gh ends like that, and most programs do
)

// redactingWriter redacts secrets from what is written.
type redactingWriter struct {
	to io.Writer
	a  *app
}

func (w redactingWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.a.Secrets().Redact(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Main runs the command line and returns the exit code. The first SIGINT, SIGTERM or SIGHUP cancels
// the context; a second one ends the process at once.
func Main(env Env) int {
	beginSmall()
	collectLater()
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop)
	defer outliveReaders()()
	a := &app{&cli.App{Env: env, Now: env.Now}}
	if a.Now == nil {
		a.Now = time.Now
	}
	stdout, stderr := terminal.NewScreen(env.Stdout), terminal.NewScreen(env.Stderr)
	defer stderr.Flush()
	a.Env.Bare, a.Env.BareErr, a.ErrScreen = env.Stdout, env.Stderr, stderr
	a.Env.Stdout, a.Env.Stderr = stdout, a.Telling(redactingWriter{to: terminal.Fitted(stderr, env.Stderr), a: a})
	ran := newRootCmd(a)
	root := ran
	err := work.Contain("run gh mergexo", func() (err error) { ran, err = root.ExecuteContextC(ctx); return err })
	stdout.Flush()
	if unwritten := stdout.Err(); err == nil {
		err = unwritten
	}
	if err != nil {
		a.report(ran, err)
	}
	return exitCode(err)
}

// outliveReaders makes a write to a closed pipe an error: by default it kills the program, and a
// pass does more than print. It returns a function that restores the default.
func outliveReaders() func() {
	broken := make(chan os.Signal, 1) // never read: the write has the error
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// report prints to standard error, once, why the run failed: for people, or as a line of JSON if
// JSON was requested and standard error is no terminal.
func (a *app) report(ran *cobra.Command, err error) {
	if _, ended := errors.AsType[*cli.CodeError](err); ended || cli.EnoughRead(err) { // the other program has printed the reason; or the reader knows it
		return
	}
	if cli.WantsJSON(a.Env.Args) && !terminal.Watched(a.Env.BareErr) {
		v := cli.ViewError(err, a.StateDir, ran.CommandPath())
		v.Message, v.Do = a.Typed(v.Message), a.Typed(v.Do)
		fmt.Fprintln(a.Env.Stderr, v.Line())
		return
	}
	if errors.Is(err, context.Canceled) {
		return
	}
	if unwritten := cli.Unwritten(err); unwritten != nil {
		fmt.Fprintln(a.Env.Stderr, "gh mergexo:", cli.NotComplete(unwritten))
		return
	}
	if line := machine.DiskTrouble(err, a.StateDir); line != "" {
		fmt.Fprintln(a.Env.Stderr, "gh mergexo:", line)
		return
	}
	fmt.Fprintln(a.Env.Stderr, "gh mergexo:", err)
	if broken, ok := errors.AsType[*work.PanicError](err); ok {
		fmt.Fprintln(a.Env.Stderr, broken.Stack)
	}
	if _, ok := errors.AsType[*cli.UsageError](err); ok {
		fmt.Fprint(a.Env.Stderr, ran.UsageString())
	}
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitCancelled
	case cli.EnoughRead(err):
		return exitClosed
	case notLoggedIn(err):
		return exitAuth
	}
	if coded, ok := errors.AsType[*cli.CodedError](err); ok {
		switch coded.Code { //nolint:exhaustive // other codes have no exit code of their own
		case cli.CodeNoLogin:
			return exitAuth
		case cli.CodeCancelled:
			return exitCancelled
		}
	}
	if ended, ok := errors.AsType[*cli.CodeError](err); ok {
		return ended.Code
	}
	return exitError
}

func notLoggedIn(err error) bool {
	if all, ok := errors.AsType[*unreadError](err); ok {
		return all.login
	}
	if coded, ok := errors.AsType[*cli.CodedError](err); ok && coded.Code == cli.CodeNoLogin {
		return true
	}
	_, ok := errors.AsType[*transport.NotLoggedInError](err)
	return ok
}
