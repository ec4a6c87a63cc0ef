// Package doctor is the command doctor. Each check asks what it needs of this machine and of GitHub, and returns
// what it found, with what mends it; its row in the table stands beside it.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// options are the flags of doctor.
type options struct {
	notify             bool
	agent              string
	sandbox, dir, repo string
}

// NewCmd makes the command doctor.
func NewCmd(a *cli.App) *cobra.Command {
	o := &options{}
	c := a.WithJSON(view{}, &cobra.Command{
		Use:        "doctor",
		SuggestFor: []string{"check"},
		Short:      "Check the setup, and print what fixes it",
		Long: `Check everything that a pass needs: gh and its login, the permissions of the token,
each repository with its rules and labels, the agents and their sandbox, git, the
state folder, the disk, the clock and the schedule. Each check is ok (✓), a warning
(!) or a failure (X), with the command that fixes it. All checks run, even after a
failure.

It does what a pass does: asks the git remotes, writes to the state folder and the
database, starts the agents in their sandbox. It only reads from GitHub, sends no
request to an agent's provider, and leaves nothing behind. The exit code is 1 if
there is a failure. docs/reference/doctor.md lists the checks.

--notify also sends a test message to each [[notify]] of the config.

--agent plays what a turn needs of an agent, in an empty repository: it begins a
session, answers by the tool for it, continues the session, and changes nothing where
it may only read. That asks its provider at least three times, and is paid; no budget
counts it.

--sandbox lists what an agent sees of this machine, and why: the system's folders,
programs on PATH, the known folders of toolchains, its own home. A path is readable,
writable, hidden (empty), a link, or private (writable, but not your folder of that
name). A command after -- runs there instead, in the agent's environment and in an
empty folder, or the one of --dir; the exit code is the command's. To let in other
folders, name them in readable or writable of [agents.NAME] or [runtime].`,
		Example: `  $ gh mergexo doctor
  $ gh mergexo doctor --agent claude
  $ gh mergexo doctor --sandbox claude
  $ gh mergexo doctor --sandbox codex --dir . -- make test
  $ gh mergexo doctor --json checks \
      --jq '.checks[] | select(.level != "ok") | .do'`,
		Args: cli.Args(func(c *cobra.Command, given []string) error {
			if at := c.ArgsLenAtDash(); o.sandbox != "" && at != 0 && len(given) > 0 {
				return errors.New("a command stands after --, for example: gh mergexo doctor --sandbox codex -- codex --version")
			} else if o.sandbox == "" {
				return cli.Words(0, 0)(c, given)
			}
			return nil
		}),
		RunE: func(c *cobra.Command, command []string) error {
			switch about := o.sandbox != ""; {
			case o.agent != "" && (about || o.notify):
				return &cli.UsageError{Err: errors.New("--agent cannot be combined with --sandbox and --notify")}
			case about && (a.JSON.Asked() || o.notify):
				return &cli.UsageError{Err: errors.New("--sandbox cannot be combined with --json and --notify")}
			case about:
				return o.inSandbox(c.Context(), a, command)
			case o.dir != "" || o.repo != "":
				return &cli.UsageError{Err: errors.New("--dir and --repo go with --sandbox")}
			case o.agent != "":
				return o.playAgent(c.Context(), a)
			}
			return o.run(c.Context(), a)
		},
	})
	c.Flags().BoolVar(&o.notify, "notify", false, "Also send a test message to each [[notify]]")
	c.Flags().StringVar(&o.agent, "agent", "", "Play what a turn needs of this `agent`; its provider is asked and paid")
	c.Flags().StringVar(&o.sandbox, "sandbox", "", "List what this `agent` sees, or run a command in its sandbox")
	c.Flags().StringVar(&o.dir, "dir", "", "With --sandbox: run in this `folder`, which the command may write (default: an empty one, removed at the end)")
	c.Flags().StringVarP(&o.repo, "repo", "R", "", "With --sandbox: for this `repository` (default: the first in the config)")
	for _, name := range []string{"agent", "sandbox"} {
		_ = c.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return agentsOf(a), cobra.ShellCompDirectiveNoFileComp
		})
	}
	return c
}

// view is the output of doctor.
type view struct {
	Checks []Result `json:"checks"` // with a failure, the exit code is 1
}

func (o *options) run(ctx context.Context, a *cli.App) error {
	shown := a.Progress()
	shown.Spinner("checking this machine and GitHub")
	e := newExam(ctx, a, online)
	e.notify = o.notify
	all := run(ctx, e)
	shown.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return printAll(a, all)
}

// printAll prints what was found. With a failure the exit code is 1.
func printAll(a *cli.App, all []Result) error {
	out := a.Output()
	failures := len(Only(all, Failure))
	var err error
	if a.JSON.Asked() {
		err = a.JSON.Write(out, view{all})
	} else {
		err = Print(out, all, a.Environ().Home)
		fmt.Fprintf(a.Notes(out), "%s, %s, %d ok\n", work.Count(failures, "failure"), work.Count(len(Only(all, Warning)), "warning"), len(Only(all, OK)))
	}
	if err == nil && failures > 0 {
		return &cli.CodeError{Code: 1}
	}
	return err
}

// marks are the symbols and colours of the levels.
var marks = map[Level]struct{ mark, color string }{
	OK: {"✓", "32"}, Warning: {"!", "33"}, Failure: {"X", "31"},
}

// Print shows checks: in groups on a terminal, with ~ for the home folder, and one line each for
// programs.
func Print(out terminal.Output, all []Result, home string) error {
	if !out.TTY {
		return out.Table(nil, terminal.Each(all, func(c Result) []string {
			return []string{string(c.Level), c.Code, c.About, out.Ours(c.Says), out.Ours(c.Do)}
		}))
	}
	var b strings.Builder
	heading := ""
	widest := 0
	for _, c := range all {
		widest = max(widest, len(c.Code))
	}
	for _, c := range all {
		if c.heading != heading {
			if heading != "" {
				b.WriteString("\n")
			}
			heading = c.heading
			b.WriteString(out.Bold(heading) + "\n")
		}
		c.Says = shortenHome(c.Says, home)
		b.WriteString(line(out, c, widest))
	}
	_, err := io.WriteString(out.W, b.String()+"\n")
	return err
}

// shortenHome replaces the home folder by ~.
func shortenHome(says, home string) string {
	if home == "" {
		return says
	}
	if rest, begins := strings.CutPrefix(says, home+" "); begins {
		return "~ " + rest
	}
	return strings.ReplaceAll(says, home+string(filepath.Separator), "~"+string(filepath.Separator))
}

// indent aligns further lines with the text after a check's mark.
const indent = "  "

// line renders a check for people, with the remedy below it.
func line(out terminal.Output, c Result, widest int) string {
	says := c.Says
	if c.About != "" {
		says = c.About + ": " + says
	}
	m := marks[c.Level]
	first := out.Indented(fmt.Sprintf("%s%s %-*s  ", indent, m.mark, widest, c.Code), out.Ours(says))
	first = strings.Replace(first, m.mark, out.Paint(m.color, m.mark), 1)
	if c.Do == "" {
		return first
	}
	return first + out.Indented(fmt.Sprintf("%s  %*s→ ", indent, widest, ""), out.Ours(c.Do))
}

// Look makes all checks.
func Look(ctx context.Context, a *cli.App) []Result { return run(ctx, newExam(ctx, a, online)) }

// PrintFailures prints, before the first pass, what would keep it from working, as far as this machine
// knows: GitHub is not asked. What status has said is left out.
func PrintFailures(ctx context.Context, a *cli.App, notes io.Writer, said []string) {
	for _, f := range Only(run(ctx, newExam(ctx, a, offline)), Failure) {
		if !slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, terminal.OneLine(f.What())) }) {
			fmt.Fprintln(notes, terminal.OneLine(f.Line()))
		}
	}
	fmt.Fprintln(notes, "to check everything that a pass needs: gh mergexo doctor")
}
