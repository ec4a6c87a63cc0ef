package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// newPresetsCmd makes the command config agents.
func newPresetsCmd(a *cli.App) *cobra.Command {
	names := func() []string {
		return terminal.Each(machine.Presets(a.Environ()), func(p machine.Preset) string { return p.Name })
	}
	return &cobra.Command{
		Use:   "agents [<name>]",
		Short: "List programs that speak the Agent Client Protocol",
		Long: `List the programs known to speak the Agent Client Protocol: how each is started and
installed, how to log in, and what it tells of a turn's usage. With a name, print
its table for the config; "gh mergexo init --agent <name>" writes it. codex and claude
need no table.`,
		Example: `  $ gh mergexo config agents
  $ gh mergexo config agents opencode >> ~/.config/mergexo/config.toml`,
		Args: cli.Args(cli.Words(0, 1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, given []string) error {
			all := machine.Presets(a.Environ())
			if len(given) > 0 {
				all = slices.DeleteFunc(all, func(p machine.Preset) bool { return p.Name != given[0] })
				if given[0] == config.AdapterCodex || given[0] == config.AdapterClaude {
					return &cli.UsageError{Err: fmt.Errorf("%s is built in and needs no table; to choose it: agent = %q in [runtime]", given[0], given[0])}
				}
				if len(all) == 0 {
					err := fmt.Errorf("there is no preset %q; a program of your own needs a table with its command: docs/agents.md", given[0])
					return &cli.UsageError{Err: cli.DidYouMean(err, given[0], names(), "")}
				}
			}
			if len(given) > 0 {
				_, err := io.WriteString(a.Env.Stdout, all[0].Table())
				return err
			}
			return a.Output().Table([]string{"NAME", "INSTALL", "COMMAND", "LOGIN", "USAGE"}, terminal.Each(all, func(p machine.Preset) []string {
				there := "installed"
				if !p.Installed {
					there = p.Install()
				}
				return []string{p.Name, there, strings.Join(p.Command, " "), p.Login, p.Usage}
			}))
		},
	}
}
