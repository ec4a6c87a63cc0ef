package about

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

func newSandboxRunCmd(a *room) *cobra.Command {
	dir, repo := "", ""
	c := &cobra.Command{
		Use:   "run <agent> [flags] -- <command> [argument]...",
		Short: "Run a command in an agent's sandbox",
		Long: `Run a command as an agent's program runs: in the agent's sandbox and environment, in
an empty folder instead of a checkout. It runs no pass and writes no state. The exit
code is the command's.

With --dir the command runs in a folder of yours, which it can write to.`,
		Example: `  $ gh mergexo sandbox run codex -- codex --version
  $ gh mergexo sandbox run claude --dir . -- make test
  $ gh mergexo sandbox run codex -- sh -c 'ls -A ~; cat ~/.ssh/id_ed25519'`,
		ValidArgsFunction: a.completeAgents,
		Args: cli.Args(func(c *cobra.Command, given []string) error {
			if c.ArgsLenAtDash() != 1 || len(given) < 2 {
				return errors.New("name an agent, and a command after --, for example: gh mergexo sandbox run codex -- codex --version")
			}
			return nil
		}),
		RunE: func(c *cobra.Command, given []string) error {
			return a.runInSandbox(c.Context(), given[0], given[1:], dir, repo)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "Run in this `folder` (default: an empty one, removed at the end)")
	c.Flags().StringVarP(&repo, "repo", "R", "", "Sandbox for this `repository` (default: the first in the config)")
	return c
}

func (a *room) runInSandbox(ctx context.Context, name string, argv []string, dir, repo string) error {
	m, ag, repoName, err := a.sandboxOf(ctx, []string{name}, repo)
	if err != nil {
		return err
	}
	code, err := m.Try(ctx, machine.Trial{
		Agent: ag, Repo: repoName, Command: argv, Dir: dir,
		Streams: proc.Streams{In: a.Env.Stdin, Out: a.Env.Bare, Err: a.Env.BareErr}, // as they are: a terminal stays one
	})
	if _, wrong := errors.AsType[*machine.FolderError](err); wrong {
		return &cli.UsageError{Err: fmt.Errorf("--dir %w", err)}
	}
	if err != nil || code == 0 {
		return plainBlocked(err)
	}
	return &cli.CodeError{Code: code}
}

// plainBlocked rewrites a blocked error, which is worded for GitHub, for a terminal.
func plainBlocked(err error) error {
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		said := explain.Reason(blocked.Reason, explain.Place{})
		return fmt.Errorf("%s; %s", strings.TrimRight(said.Here(), "."), said.Fix)
	}
	return err
}
