package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// toSQLite is what --to takes for the file in the state folder.
const toSQLite = "sqlite"

func newDatabaseCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "database", Short: "Move the database to PostgreSQL, or back", Args: cli.Args(cli.Words(0, 0))}
	var to, toEnv string
	move := &cobra.Command{
		Use:   "move {--to <url> | --to-env <name> | --to sqlite}",
		Short: "Copy the database to an empty one",
		Long: `Copy all rows of the database to an empty PostgreSQL database, or back to the SQLite
file state.db in the state folder, and compare them. Pause everything first:
gh mergexo pause --all.

All rows are copied in one transaction: if the command fails or is killed, the new
database is empty, and the old one is used as before. Run it again then. In the end it
prints what to write into the config of each machine. The old database keeps its rows,
but no pass uses it any more. Mirrors and checkouts stay in the state folders.

A URL with a password belongs into an environment variable, which --to-env names: other
users see the arguments of a command.`,
		Example: `  $ gh mergexo pause --all
  $ gh mergexo database move --to 'postgres://db/mergexo?sslmode=verify-full'
  $ gh mergexo database move --to-env MERGEXO_DATABASE
  $ gh mergexo database move --to sqlite`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return a.moveDatabase(c.Context(), to, toEnv) },
	}
	move.Flags().StringVar(&to, "to", "", "`URL` of an empty PostgreSQL database, or sqlite")
	move.Flags().StringVar(&toEnv, "to-env", "", "environment variable with that URL, by its `name`")
	c.AddCommand(move)
	return c
}

// newPlace returns where the database is to be, and the line of the config that names it.
func (a *app) newPlace(cfg *config.Config, to, toEnv string) (at, line string, err error) {
	usage := func(format string, args ...any) (string, string, error) {
		return "", "", &cli.UsageError{Err: fmt.Errorf(format, args...)}
	}
	next := config.Runtime{StateDir: cfg.Runtime.StateDir}
	switch {
	case (to == "") == (toEnv == ""):
		return usage("name the new database: --to URL, --to-env NAME or --to sqlite")
	case to == toSQLite:
		at, err = next.DatabaseAt()
		return at, "", err
	case config.HasPassword(to):
		return usage("the URL has a password, and other users see it there; put it into an environment variable, and name that: --to-env NAME")
	case to != "":
		next.Database = to
	default:
		next.Database = "$" + toEnv
	}
	if why := next.Resolve(a.Environ()); why != "" {
		return usage("%s", why)
	}
	a.Secrets().AddAddress(next.DatabaseURL(), "a part of the URL of the database")
	at, err = next.DatabaseAt()
	return at, "database = " + strconv.Quote(next.Database), err
}

// moveDatabase copies this machine's database to another one. No pass may run until the configs name the
// other one: what it writes would be lost.
func (a *app) moveDatabase(ctx context.Context, to, toEnv string) (err error) {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	at, line, err := a.newPlace(cfg, to, toEnv)
	if err != nil {
		return err
	}
	from, err := cfg.Runtime.DatabaseAt()
	if err != nil {
		return err
	}
	if at == from {
		return refused("the config names this database already: nothing to move")
	}
	halt, unlock, err := a.noPass(ctx, cfg)
	if err != nil {
		return cli.NotDone(err)
	}
	defer unlock()
	old, target, err := a.bothDatabases(ctx, from, at, cli.ThisMachine(cfg))
	if err != nil {
		return cli.NotDone(err)
	}
	defer func() { err = errors.Join(err, old.Close(), target.Close()) }()
	shown := a.Progress()
	var bar *terminal.Bar
	fleet := store.Fleet{PausedAt: halt.Since, PausedBy: a.Environ().UserName(), Why: halt.Why}
	err = store.Move(ctx, old, target, fleet, func(table string, copied bool) {
		if bar != nil {
			bar.Done()
		}
		bar = shown.Spinner(map[bool]string{false: "copy ", true: "compare "}[copied] + table)
	})
	shown.Close()
	switch {
	case errors.Is(err, store.ErrNotEmpty) && line == "":
		return refused("%s has rows, and nothing was moved; if nothing needs them: mv %q %q", at, at, at+".old")
	case errors.Is(err, store.ErrNotEmpty):
		return refused("%w; nothing was moved; name an empty database, or drop those tables", err)
	case errors.Is(err, store.ErrInUse):
		return refused("%w, and nothing was moved; run this again once the pass has ended: gh mergexo machines", err)
	case err != nil:
		return err
	}
	_, _ = folder.At(cfg.Runtime.StateDir).HaltFleet(halt) // if that fails, this machine is paused by itself, too
	return a.printMoved(cfg, old.Path, target.Path, line)
}

// refused is an error that leaves everything as it was.
func refused(format string, args ...any) error {
	return cli.Coded(cli.CodeRefused, fmt.Errorf(format, args...))
}

// noPass makes sure that no pass of this machine runs, and that none begins before unlock: everything is
// paused. Move notices passes of other machines.
func (a *app) noPass(ctx context.Context, cfg *config.Config) (halt folder.Halt, unlock func(), err error) {
	dirs := folder.At(cfg.Runtime.StateDir)
	halt, haltedHere := dirs.Halted()
	halted := false
	found, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		fleet, err := tx.GetFleet(ctx)
		halted = haltedHere && (cfg.Runtime.DatabaseKey() == "" || halt.Fleet && !fleet.PausedAt.IsZero())
		return err
	})
	switch {
	case err != nil:
		return halt, nil, err
	case !found:
		return halt, nil, cli.ErrNothingYet
	case !halted:
		return halt, nil, refused("passes may run, and what they write would be lost; first: gh mergexo pause --all")
	}
	if halt.Since.IsZero() { // somebody made the file by hand
		if halt, _, err = dirs.HaltAll("", a.Now()); err != nil {
			return halt, nil, err
		}
	}
	planning, ok, err := dirs.LockPlanning(ctx, 0, a.Now())
	if err != nil {
		return halt, nil, err
	}
	unlock = func() {}
	if ok {
		unlock = planning.Unlock
	}
	held, err := dirs.HeldLocks()
	if held = slices.DeleteFunc(held, func(name string) bool { return ok && name == "tick.lock" }); err == nil && (!ok || len(held) > 0) {
		err = refused("a pass still runs; run this again once it has ended: gh mergexo status")
	}
	if err != nil {
		unlock()
		return halt, nil, err
	}
	return halt, unlock, nil
}

// bothDatabases opens the database that is moved, and the new one.
func (a *app) bothDatabases(ctx context.Context, from, to, machine string) (old, target *store.DB, err error) {
	opt := store.Options{Now: a.Now, Redact: a.Secrets().Redact, Machine: machine}
	if old, err = store.Open(ctx, from, opt); err != nil {
		return nil, nil, err
	}
	if target, err = store.Open(ctx, to, opt); err != nil {
		return nil, nil, errors.Join(err, old.Close())
	}
	return old, target, nil
}

// printMoved says what to write into configs: line is that for [runtime]; empty: remove the present one.
func (a *app) printMoved(cfg *config.Config, from, to, line string) error {
	next := fmt.Sprintf("To use it, write this line under [runtime] in %s, and in the config of each other machine:\n%s\n", cfg.Path, line)
	_, key, _ := strings.Cut(cfg.Runtime.DatabaseKey(), ".")
	switch {
	case line == "":
		next = fmt.Sprintf("To use it, remove %s from [runtime] in %s.\nOther machines cannot use it: on each, there: gh mergexo schedule remove.\n", key, cfg.Path)
	case key != "":
		next += "It replaces the line with " + key + ".\n"
	}
	_, err := fmt.Fprintf(a.Telling(a.Output().W), "Moved %s to %s, and compared each row.\n%sThen: gh mergexo resume --all\nThe old database keeps its rows, and no pass uses it. Once the new one works, delete it.\n", from, to, next)
	return err
}
