package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// inSandbox lists what an agent sees in its sandbox, or runs a command there.
func (o *options) inSandbox(ctx context.Context, a *cli.App, command []string) error {
	m, ag, repo, err := sandboxOf(ctx, a, o.sandbox, o.repo)
	switch {
	case err != nil:
		return err
	case len(command) > 0:
		return o.runInSandbox(ctx, a, m, ag, repo, command)
	case o.dir != "":
		return &cli.UsageError{Err: errors.New("--dir needs a command after --, for example: gh mergexo doctor --sandbox codex --dir . -- make test")}
	}
	return listSandbox(ctx, a, m, ag, repo)
}

func listSandbox(ctx context.Context, a *cli.App, m *machine.Machine, ag config.Agent, repo work.Repo) error {
	p, err := m.Protection(ctx, ag)
	if err != nil {
		return machine.Plain(err)
	}
	out := a.Output()
	if out.TTY || !p.Hides() {
		fmt.Fprintf(a.Env.Stderr, "agent %q: %s%s\n", ag.Name, p, m.Advice(p, ag))
	}
	for _, d := range m.DoubtsOf(ag) {
		fmt.Fprintln(a.Env.Stderr, terminal.OneLine(d))
	}
	if !p.Hides() {
		return nil
	}
	return out.Table([]string{"PATH", "HOW", "WHY"}, terminal.Each(m.VisibleEntries(p, repo, ag), func(v sandbox.Entry) []string { return []string{v.Path, string(v.How), v.Why} }))
}

// runInSandbox runs a command as an agent's program runs. It ends with the command's exit code.
func (o *options) runInSandbox(ctx context.Context, a *cli.App, m *machine.Machine, ag config.Agent, repo work.Repo, command []string) error {
	code, err := m.Try(ctx, machine.Trial{
		Agent: ag, Repo: repo, Command: command, Dir: o.dir,
		Streams: proc.Streams{In: a.Env.Stdin, Out: a.Env.Bare, Err: a.Env.BareErr}, // as they are: a terminal stays one
	})
	if _, wrong := errors.AsType[*machine.FolderError](err); wrong {
		return &cli.UsageError{Err: fmt.Errorf("--dir %w", err)}
	}
	if err != nil || code == 0 {
		return machine.Plain(err)
	}
	return &cli.CodeError{Code: code}
}

// sandboxOf finds the agent and the repository that a command line names.
func sandboxOf(ctx context.Context, a *cli.App, name, repo string) (*machine.Machine, config.Agent, work.Repo, error) {
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
	ag, err := cli.AgentNamed(cfg, name)
	if err != nil {
		return nil, ag, work.Repo{}, err
	}
	row := work.Repo{Name: named[0]} // until a pass has seen it
	_, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
		known, err := tx.ListRepos(ctx)
		row = cli.FindRepo(known, named[0])
		return err
	})
	return m, ag, row, err
}

// agentsOf returns the names of the config's agents, for completion.
func agentsOf(a *cli.App) []string {
	cfg, err := a.Config()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(cfg.Agents))
}
