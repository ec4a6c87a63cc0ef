package cmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

func newMachinesCmd(a *app) *cobra.Command {
	c := a.WithJSON(machinesView{}, &cobra.Command{
		Use:   "machines",
		Short: "List the machines that share the database",
		Long: `List the machines whose passes use the same database: the version of the program,
when a pass last began there and when one last read a repository, for how many
repositories it was the last to plan a turn, and the turns that it works on. Times are
some minutes old at most; the state is that after its last pass.

Machines share the work of the same repositories when the configs of all of them name
one PostgreSQL database, in database of [runtime]. To begin with the
database of this machine: gh mergexo database move. "gh mergexo doctor" checks whether
passes can use the database.

A machine without a pass for much longer than usual is silent: tick and status
warn of it, and [[notify]] targets get one message (machine_silent). One
that was paused, or whose schedule was removed, is not silent.`,
		Example: "  $ gh mergexo machines\n  $ gh mergexo machines forget build2",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE:    func(c *cobra.Command, _ []string) error { return a.listMachines(c.Context()) },
	})
	force := false
	forget := &cobra.Command{
		Use:   "forget <name>",
		Short: "Forget a machine or an installation that is gone",
		Long: `Forget a machine that is gone for good: nothing warns of it any more. Other machines
finish its turns, and wait no longer for what only that machine knows after the database
was lost. If it lives, its next pass lists it again. A machine that works on a turn is
not forgotten without --force.

To take a machine out, stop its passes first: gh mergexo schedule remove.

An installation that does not use this database, but worked under the same account, is
named by its id, as tick, status and doctor show it: what it wrote until now stops no
repository any more. Remove it first, on its machine: gh mergexo schedule remove --all.`,
		Example: "  $ gh mergexo machines forget build2\n  $ gh mergexo machines forget 5d1f0c2a-77e0b913",
		Args:    cli.Args(cli.Words(1, 1)),
		RunE:    func(c *cobra.Command, given []string) error { return a.forgetMachine(c.Context(), given[0], force) },
	}
	forget.Flags().BoolVar(&force, "force", false, "Forget it although it works on turns")
	c.AddCommand(forget)
	return c
}

// machinesView is the output of machines.
type machinesView struct {
	Machines []status.Machine `json:"machines"` // the machines, by name
}

func (a *app) listMachines(ctx context.Context) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	all, seen, err := status.ReadMachines(ctx, a.App, cfg)
	switch {
	case err != nil:
		return err
	case !seen:
		return cli.ErrNothingYet
	}
	out, now := a.Output(), a.Now()
	if a.JSON.Asked() {
		return a.JSON.Write(out, machinesView{all})
	}
	return out.Table([]string{"NAME", "HOST", "VERSION", "LAST PASS", "LAST GOOD PASS", "STATE", "REPOSITORIES", "TURNS"}, terminal.Each(all, func(v status.Machine) []string {
		return []string{v.Name, v.Host, v.Version, out.When(v.LastPass.Time, now), out.When(v.LastGood.Time, now), v.Says(), strconv.Itoa(len(v.Repos)), strings.Join(v.Turns, ", ")}
	}))
}

func (a *app) forgetMachine(ctx context.Context, name string, force bool) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	if installationID().MatchString(name) {
		return a.forgetInstallation(ctx, cfg, name)
	}
	var known []work.Machine
	forgotten := false
	shared, err := a.WithFormerFleet(ctx, cfg, func(tx *store.Tx) (err error) {
		if known, err = tx.ListMachines(ctx); err != nil {
			return err
		}
		all, err := status.LoadMachines(ctx, tx, cfg, a.Now())
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.Name == name && len(m.Turns) > 0 && !force {
				return refused("machine %s works on %s; stop its passes (there: gh mergexo schedule remove), and forget it once they have ended, or now: gh mergexo machines forget %[1]s --force", name, work.JoinNames(m.Turns))
			}
		}
		forgotten, err = tx.ForgetMachine(ctx, name)
		return err
	})
	switch {
	case err != nil:
		return cli.NotDone(err)
	case !shared:
		return errors.New("this machine shares its database with no other")
	case !forgotten:
		names := terminal.Each(known, func(m work.Machine) string { return m.Name })
		return &cli.UsageError{Err: cli.DidYouMean(fmt.Errorf("there is no machine %q; there are: %s", name, work.JoinNames(names)), name, names, "")}
	}
	said := "Forgot machine " + name + "."
	if i := slices.IndexFunc(known, func(m work.Machine) bool { return m.Name == name }); i >= 0 {
		if _, silent := known[i].Silent(a.Now()); !silent && !known[i].BeganAt.IsZero() {
			said += " A pass has begun there at " + work.Stamp(known[i].BeganAt) + "; with the next one it is listed again. To stop them, there: gh mergexo schedule remove"
		}
	}
	out := a.Output()
	_, err = fmt.Fprintln(out.W, out.Ours(said))
	return err
}

// installationID matches the id of an installation, to tell it from a machine's name.
var installationID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{8}$`) })

// forgetInstallation lets what another installation wrote until now stop no repository any more.
func (a *app) forgetInstallation(ctx context.Context, cfg *config.Config, id string) error {
	forgotten := false
	seen, err := a.WithDatabase(ctx, cfg, func(tx *store.Tx) (err error) {
		forgotten, err = tx.ForgetInstallation(ctx, id, a.Now())
		return err
	})
	switch {
	case err != nil:
		return cli.NotDone(err)
	case !seen:
		return cli.ErrNothingYet
	case !forgotten:
		return &cli.UsageError{Err: fmt.Errorf("there is no installation %s; gh mergexo doctor names those that work under the same account", id)}
	}
	_, err = fmt.Fprintln(a.Output().W, "Forgot installation "+id+". If it writes on GitHub again, its repository stops again.")
	return err
}
