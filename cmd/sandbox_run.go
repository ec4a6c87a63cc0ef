package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func (a *app) newSandboxRunCmd() *cobra.Command {
	dir, repo := "", ""
	c := &cobra.Command{
		Use:   "run <agent> [flags] -- <command> [argument]...",
		Short: "Run a command in an agent's sandbox",
		Long: `Run a command just as an agent's own program runs: in its sandbox, with its
environment, and with an empty folder in place of a checkout. No pass is made,
and nothing of the state is written. The exit code is the command's.

With --dir the command works in a folder of yours, which it can write to.`,
		Example: `  $ gh mergexo sandbox run codex -- codex --version
  $ gh mergexo sandbox run claude --dir . -- make test
  $ gh mergexo sandbox run codex -- sh -c 'ls -A ~; cat ~/.ssh/id_ed25519'`,
		ValidArgsFunction: a.completeAgents,
		Args: args(func(c *cobra.Command, given []string) error {
			if c.ArgsLenAtDash() != 1 || len(given) < 2 {
				return errors.New("name an agent, and the command behind --, such as: gh mergexo sandbox run codex -- codex --version")
			}
			return nil
		}),
		RunE: func(c *cobra.Command, given []string) error {
			return a.runInSandbox(c.Context(), given[0], given[1:], dir, repo)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "Work in this `folder` (default: an empty one, removed at the end)")
	c.Flags().StringVarP(&repo, "repo", "R", "", "As for this `repository` (default: the first of the config)")
	return c
}

func (a *app) runInSandbox(ctx context.Context, name string, argv []string, dir, repo string) (err error) {
	m, ag, repoName, err := a.sandboxOf(ctx, []string{name}, repo)
	if err != nil {
		return err
	}
	if m.scratch, err = os.MkdirTemp("", "mergexo-sandbox-"); err != nil {
		return fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.Remove(m.scratch)) }()
	if dir, err = m.workFolder(dir); err != nil {
		return err
	}
	spec := m.spec(ag)
	protection, wrap, err := m.protect(ctx, repoName, ag)
	switch {
	case err != nil:
		return plainBlocked(err)
	case !protection.Hides():
		return fmt.Errorf("nothing was run: agent %q has %s; %s", ag.Name, protection, remedy(m.cfg.Sandbox(ag)))
	}
	spec.Wrap = wrap
	if argv[0], err = findIn(m.env, dir, argv[0]); err != nil {
		return err
	}
	line, env, err := spec.Line(agent.Request{Turn: "sandbox-run", Dir: dir}, argv)
	if err != nil {
		return plainBlocked(err)
	}
	code, err := proc.Attach(ctx, proc.Cmd{Path: line[0], Args: line[1:], Dir: dir, Env: env, OwnKeyring: true},
		proc.Streams{In: a.env.Stdin, Out: a.env.bare, Err: a.env.bareErr}) // as they are: a terminal stays one
	if err != nil || code == 0 {
		return err
	}
	return &codeError{code}
}

// workFolder is the folder that a command works in and writes to: never one that
// holds the home, the state or gh's login.
func (m *machine) workFolder(dir string) (string, error) {
	if dir == "" {
		dir = filepath.Join(m.scratch, "checkout")
		return dir, os.Mkdir(dir, 0o700)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find the folder %q: %w", dir, err)
	}
	if why := m.cfg.TooMuch(m.env, abs); why != "" {
		return "", &usageError{fmt.Errorf("--dir %s: it %s, which no command in a sandbox may write to; name a folder with less in it", dir, why)}
	}
	return abs, nil
}

// findIn finds a command as a shell in the folder would.
func findIn(env config.Env, dir, name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		return filepath.Join(dir, name), nil
	}
	path, err := proc.LookPath(name, env.Path)
	if err != nil {
		return "", fmt.Errorf("%q is not on PATH: %w", name, err)
	}
	return path, nil
}

// plainBlocked words for a terminal what is said on GitHub otherwise.
func plainBlocked(err error) error {
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		hint, _, _ := strings.Cut(blocked.Hint, ", then comment")
		return fmt.Errorf("%s; %s", blocked.Reason, hint)
	}
	return err
}
