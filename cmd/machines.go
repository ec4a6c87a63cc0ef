package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
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
when a pass last began there and when one last read a repository, and the turns that
the machine holds.

Machines share the work of the same repositories when the configs of all of them name
one PostgreSQL database, in database or database_env of [runtime]. To begin with the
database of this machine: gh mergexo database move. "gh mergexo doctor" checks whether
passes can use the database.

A machine without a pass for much longer than usual is silent: status and doctor warn
of it, and the [[notify]] targets of failing passes get one message.`,
		Example: "  $ gh mergexo machines\n  $ gh mergexo machines forget build2",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE:    func(c *cobra.Command, _ []string) error { return a.listMachines(c.Context()) },
	})
	c.AddCommand(a.WithJSON(forgottenView{}, &cobra.Command{
		Use:   "forget <name>",
		Short: "Forget a machine that is gone",
		Long: `Forget a machine that is gone for good: nothing warns of it any more. Other machines
finish its turns. If a pass begins there again, it is listed again.

To take a machine out, stop its passes first: gh mergexo schedule remove.`,
		Example: "  $ gh mergexo machines forget build2",
		Args:    cli.Args(cli.Words(1, 1)),
		RunE:    func(c *cobra.Command, given []string) error { return a.forgetMachine(c.Context(), given[0]) },
	}))
	return c
}

// machinesView is the output of machines.
type machinesView struct {
	Machines []machineView `json:"machines"` // the machines, by name
}

// machineView is a machine as JSON.
type machineView struct {
	Name     string        `json:"name"`     // the name that `machines forget` takes
	Host     string        `json:"host"`     // its host name
	This     bool          `json:"this"`     // whether the command runs there
	Version  string        `json:"version"`  // of the program
	Began    terminal.Time `json:"began"`    // when a pass last began there, to within some minutes
	LastGood terminal.Time `json:"lastGood"` // when one last ended that read a repository, to within some minutes; null: none did
	Silent   bool          `json:"silent"`   // whether no pass has begun there for much longer than usual
	Failures int           `json:"failures"` // how many passes have failed there in a row
	Error    string        `json:"error"`    // why the last of these failed
	Turns    []string      `json:"turns"`    // issues and pull requests of the turns that it holds
}

func (v machineView) says() string {
	switch {
	case v.Silent:
		return "silent"
	case v.Failures > 0:
		return "passes fail: " + v.Error
	}
	return "works"
}

func (a *app) listMachines(ctx context.Context) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	all := []machineView{}
	seen, err := machine.View(ctx, cfg, func(tx *store.Tx) (err error) {
		all, err = a.viewMachines(ctx, tx, cfg)
		return err
	})
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
	return out.Table([]string{"NAME", "HOST", "VERSION", "LAST PASS", "LAST GOOD PASS", "STATE", "TURNS"}, terminal.Each(all, func(v machineView) []string {
		return []string{v.Name, v.Host, v.Version, out.When(v.Began.Time, now), out.When(v.LastGood.Time, now), v.says(), strings.Join(v.Turns, ", ")}
	}))
}

func (a *app) viewMachines(ctx context.Context, tx *store.Tx, cfg *config.Config) ([]machineView, error) {
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return nil, err
	}
	turns, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return nil, err
	}
	repos, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	called := map[int64]string{}
	for _, r := range repos {
		called[r.ID] = cfg.Called(r.Name)
	}
	here := cli.ThisMachine(cfg)
	return terminal.Each(known, func(m work.Machine) machineView {
		v := machineView{
			Name: m.Name, Host: m.Host, This: m.Name == here, Version: m.Version, Began: terminal.Stamp(m.BeganAt), LastGood: terminal.Stamp(m.GoodAt),
			Failures: m.Failures, Error: m.Why, Turns: []string{},
		}
		_, v.Silent = m.Silent(a.Now())
		for _, t := range turns {
			if t.Machine == m.Name {
				v.Turns = append(v.Turns, fmt.Sprintf("%s#%d", called[t.RepoID], t.Number))
			}
		}
		return v
	}), nil
}

// forgottenView is the output of machines forget.
type forgottenView struct {
	Machine string `json:"machine"` // the name of the machine
	Answer  string `json:"answer"`  // what was done, for people
}

func (a *app) forgetMachine(ctx context.Context, name string) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	var known []work.Machine
	forgotten := false
	shared, err := a.withFleet(ctx, cfg, func(tx *store.Tx) (err error) {
		if known, err = tx.ListMachines(ctx); err != nil {
			return err
		}
		forgotten, err = tx.ForgetMachine(ctx, name)
		return err
	})
	switch {
	case err != nil:
		return err
	case !shared:
		return errors.New("this machine shares its database with no other")
	case !forgotten:
		names := terminal.Each(known, func(m work.Machine) string { return m.Name })
		return &cli.UsageError{Err: cli.DidYouMean(fmt.Errorf("there is no machine %q; there are: %s", name, work.JoinNames(names)), name, names, "")}
	}
	said := "Forgot machine " + name + "."
	if i := slices.IndexFunc(known, func(m work.Machine) bool { return m.Name == name }); i >= 0 {
		if _, silent := known[i].Silent(a.Now()); !silent {
			said += " A pass has begun there at " + work.Stamp(known[i].BeganAt) + "; with the next one it is listed again. To stop them, there: gh mergexo schedule remove"
		}
	}
	out := a.Output()
	if a.JSON.Asked() {
		return a.JSON.Write(out, forgottenView{name, said})
	}
	_, err = fmt.Fprintln(out.W, out.LocalTimes(said))
	return err
}
