package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// databaseMakers returns the command about the database, where machines can share one: no config can
// name a shared one yet.
func (a *app) databaseMakers() []maker {
	if !a.Env.Shared {
		return nil
	}
	return []maker{{"database", groupOther, func() *cobra.Command { return newDatabaseCmd(a) }}}
}

func newDatabaseCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "database", Short: "Move the database", Args: cli.Args(cli.Words(0, 0))}
	var to string
	move := &cobra.Command{
		Use:   "move --to <database>",
		Short: "Copy the database to an empty one",
		Long: `Copy all that the database has to an empty database, and compare each row. Pause
everything first: gh mergexo pause --all. If the command fails or is killed, nothing is
in the new database. The old one stays as it is, and is used until the config names the
new one.`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return a.moveDatabase(c.Context(), to) },
	}
	move.Flags().StringVar(&to, "to", "", "path of a file, or `URL` of a database on a server")
	_ = move.MarkFlagRequired("to")
	c.AddCommand(move)
	return c
}

// moveDatabase copies this machine's database to another one. No pass may run until the config names the
// other one: what it writes would be lost.
func (a *app) moveDatabase(ctx context.Context, to string) (err error) {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	dirs, at := folder.At(cfg.Runtime.StateDir), filepath.Join(cfg.Runtime.StateDir, "state.db")
	if _, halted := dirs.Halted(); !halted {
		return errors.New("passes may run, and what they write would be lost; first: gh mergexo pause --all")
	}
	planning, ok, err := dirs.LockPlanning(ctx, 0, a.Now())
	if err != nil {
		return err
	}
	if ok {
		defer planning.Unlock()
	}
	held, err := dirs.HeldLocks()
	if err != nil {
		return err
	}
	if held = slices.DeleteFunc(held, func(name string) bool { return ok && name == "tick.lock" }); !ok || len(held) > 0 {
		return errors.New("a pass still runs; run this again once it has ended: gh mergexo status")
	}
	found, err := machine.View(ctx, cfg.Runtime.StateDir, func(*store.Tx) error { return nil })
	switch {
	case err != nil:
		return err
	case !found:
		return cli.ErrNothingYet
	}
	opt := store.Options{Now: a.Now, Redact: a.Secrets().Redact}
	old, err := store.Open(ctx, at, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	target, err := store.Open(ctx, to, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	shown := a.Progress()
	var line *terminal.Bar
	err = store.Move(ctx, old, target, func(table string, copied bool) {
		if line != nil {
			line.Done()
		}
		line = shown.Spinner(map[bool]string{false: "copy ", true: "compare "}[copied] + table)
	})
	shown.Close()
	if err != nil {
		return err
	}
	out := a.Output()
	_, err = fmt.Fprintf(out.W, `Moved %s to %s, and compared each row.
To use it, write this line under [runtime] in %s:
database = %s
Then: gh mergexo resume --all
The old database stays as it is. Once the new one works, delete it.
`, old.Path, target.Path, cfg.Path, strconv.Quote(target.Path))
	return err
}
