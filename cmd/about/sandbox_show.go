package about

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// NewSandboxCmd makes the commands about the sandbox.
func NewSandboxCmd(app *cli.App) *cobra.Command {
	a := &room{app}
	c := &cobra.Command{
		Use:   "sandbox <command>",
		Short: "Show what agents can see of this machine, and test it",
		Long: `Show what agents can see of this machine, and run commands in their sandbox.

An agent sees the system's folders, programs on PATH, the known folders of
toolchains, its own home, and its checkout. Name other folders in readable or
writable of [agents.NAME], or in readable of [runtime].`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.AddCommand(newSandboxShowCmd(a), newSandboxRunCmd(a))
	return c
}

func newSandboxShowCmd(a *room) *cobra.Command {
	repo := ""
	c := a.WithJSON(sandboxView{}, &cobra.Command{
		Use:   "show [agent]",
		Short: "List what an agent sees in its sandbox, and why",
		Long: `List what an agent sees in its sandbox, and why. The default agent is the one in
[runtime]. A path is readable, writable, hidden (empty), a link, or private (writable,
but not your folder of that name).`,
		Example: `  $ gh mergexo sandbox show
  $ gh mergexo sandbox show claude --json entries --jq '.entries[] | .path'`,
		Args:              cli.Args(cli.Words(0, 1)),
		ValidArgsFunction: a.completeAgents,
		RunE: func(c *cobra.Command, given []string) error {
			return a.showSandbox(c.Context(), given, repo)
		},
	})
	c.Flags().StringVarP(&repo, "repo", "R", "", "Sandbox for this `repository` (default: the first in the config)")
	return c
}

// sandboxView is the output of sandbox show.
type sandboxView struct {
	Agent   string          `json:"agent"`      // the agent's name in the config
	Sandbox string          `json:"sandbox"`    // what surrounds it: `bwrap`, `provider`, `none` and the like
	Hides   bool            `json:"hidesFiles"` // whether your files are hidden from it
	Says    string          `json:"says"`       // the same as a sentence
	Entries []machine.Entry `json:"entries"`    // the paths that the agent sees
}

func (a *room) showSandbox(ctx context.Context, given []string, repo string) error {
	m, ag, name, err := a.sandboxOf(ctx, given, repo)
	if err != nil {
		return err
	}
	p, err := m.Protection(ctx, ag)
	if err != nil {
		return plainBlocked(err)
	}
	views := []machine.Entry{}
	if p.Hides() {
		views = m.VisibleEntries(p, name, ag)
	}
	out := a.Output()
	if a.JSON.Asked() {
		return a.JSON.Write(out, sandboxView{ag.Name, string(p.Kind), p.Hides(), p.String(), views})
	}
	if out.TTY || !p.Hides() {
		fmt.Fprintf(a.Env.Stderr, "agent %q: %s%s\n", ag.Name, p, m.Advice(p, ag))
	}
	for _, d := range m.DoubtsOf(ag) {
		fmt.Fprintln(a.Env.Stderr, terminal.OneLine(d))
	}
	if len(views) == 0 {
		return nil
	}
	return out.Table([]string{"PATH", "HOW", "WHY"}, terminal.Each(views, func(v machine.Entry) []string { return []string{v.Path, v.How, v.Why} }))
}

// sandboxOf finds the agent and the repository that a command line names.
func (a *room) sandboxOf(ctx context.Context, given []string, repo string) (*machine.Machine, config.Agent, work.Repo, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, config.Agent{}, work.Repo{}, err
	}
	m, err := a.Machine(cfg)
	if err != nil {
		return nil, config.Agent{}, work.Repo{}, err
	}
	named, err := cli.Repos(cfg, repo)
	if err != nil {
		return nil, config.Agent{}, work.Repo{}, err
	}
	name := cfg.Runtime.Agent
	if len(given) > 0 {
		name = given[0]
	}
	ag, ok := cfg.Agents[name]
	if !ok {
		known := slices.Sorted(maps.Keys(cfg.Agents))
		return nil, ag, work.Repo{}, &cli.UsageError{Err: fmt.Errorf("unknown agent %q; there are %s", name, strings.Join(known, ", "))}
	}
	row := work.Repo{Name: named[0]} // until a pass has seen it
	_, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
		known, err := tx.ListRepos(ctx)
		row = cli.FindRepo(known, named[0])
		return err
	})
	return m, ag, row, err
}

// completeAgents offers the agents of the config for the first argument.
func (a *room) completeAgents(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
	cfg, err := a.Config()
	if err != nil || len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(cfg.Agents)), cobra.ShellCompDirectiveNoFileComp
}
