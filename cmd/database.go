package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

func newDatabaseCmd(a *app) *cobra.Command {
	c := &cobra.Command{Use: "database", Short: "Move the database", Args: cli.Args(cli.Words(0, 0))}
	var to string
	move := a.WithJSON(movedView{}, &cobra.Command{
		Use:   "move --to <database>",
		Short: "Copy the database to an empty one",
		Long: `Copy all that the database has to an empty database, and compare each row. Pause
everything first: gh mergexo pause --all. If the command fails or is killed, nothing is
in the new database. The old one stays as it is, and is used until the config names the
new one.`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return a.moveDatabase(c.Context(), to) },
	})
	move.Flags().StringVar(&to, "to", "", "path of a file, or `URL` of a database on a server")
	c.AddCommand(move)
	return c
}

// movedView is the output of database move.
type movedView struct {
	From  string `json:"from"`  // the old database, without a password
	To    string `json:"to"`    // the new one
	Write string `json:"write"` // the line for `[runtime]` of the config that names the new one
}

// moveDatabase copies this machine's database to another one. No pass may run until the config names the
// other one: what it writes would be lost.
func (a *app) moveDatabase(ctx context.Context, to string) (err error) {
	if to == "" {
		return &cli.UsageError{Err: errors.New("name the new database: --to URL")}
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	at, err := cfg.Runtime.DatabaseAt()
	if err != nil {
		return err
	}
	dirs := folder.At(cfg.Runtime.StateDir)
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
	found, err := machine.View(ctx, cfg, func(*store.Tx) error { return nil })
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
	v, out := movedView{old.Path, target.Path, "database = " + strconv.Quote(target.Path)}, a.Output()
	if a.JSON.Asked() {
		return a.JSON.Write(out, v)
	}
	_, err = fmt.Fprintf(out.W, `Moved %s to %s, and compared each row.
To use it, write this line under [runtime] in %s:
%s
Then: gh mergexo resume --all
The old database stays as it is. Once the new one works, delete it.
`, v.From, v.To, cfg.Path, v.Write)
	return err
}
