package cmd

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// bridges connect "gh mergexo <TAB>" to the completion of gh-mergexo, one file per shell that
// allows it.
//
//go:embed bridge.*
var bridges embed.FS

// describeCompletion describes what the scripts complete, and adds completion of names to every
// command.
func describeCompletion(root *cobra.Command, a *cli.App) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			describeShells(c, a)
		}
	}
	nameCompleter{a}.offer(root)
}

func describeShells(c *cobra.Command, a *cli.App) {
	c.Use, c.Short = "completion <shell>", "Print a script that completes commands for a shell"
	c.Long = "Print a script that completes commands, flags, repositories and items." + aboutScripts
	for _, shell := range c.Commands() {
		shell.Short = "Print the script for " + shell.Name()
		shell.Long = "Print a script that completes commands, flags, repositories and items for " + shell.Name() + "." + aboutScripts + loadScript[shell.Name()]
		shell.Example = "  $ gh mergexo completion " + shell.Name()
		script := shell.RunE
		shell.RunE = func(c *cobra.Command, given []string) error {
			if err := script(c, given); err != nil {
				return err
			}
			return writeBridge(a.Env.Stdout, c.Name())
		}
	}
}

// writeBridge appends the bridge to a shell's script, if the shell has one.
func writeBridge(out io.Writer, shell string) error {
	text, err := bridges.ReadFile("bridge." + shell)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err = out.Write(text)
	return err
}

const aboutScripts = `

gh completes its own commands only, not those of extensions. The script therefore
completes a command gh-mergexo, which you define. In bash, zsh and fish it also
completes "gh mergexo", and leaves other gh commands to gh's own completion.`

// loadScript tells for each shell how to load the completion.
var loadScript = map[string]string{
	"bash": `

Put these two lines into ~/.bashrc, below those of gh itself if there are any (the
package bash-completion is needed):

  gh-mergexo() { gh mergexo "$@"; }
  source <(gh mergexo completion bash)`,
	"zsh": `

Put these two lines into ~/.zshrc, below "autoload -U compinit; compinit":

  gh-mergexo() { gh mergexo "$@"; }
  source <(gh mergexo completion zsh)`,
	"fish": `

Put these two lines into ~/.config/fish/config.fish:

  function gh-mergexo; gh mergexo $argv; end
  gh mergexo completion fish | source`,
	"powershell": `

Put these two lines into the file that $PROFILE names:

  function gh-mergexo { gh mergexo @args }
  gh mergexo completion powershell | Out-String | Invoke-Expression`,
}

// nameCompleter completes repositories, items and agents. It does not ask GitHub.
type nameCompleter struct{ app *cli.App }

// A completion returns what a shell offers for a word.
type completion = func(c *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective)

// offer gives every command and flag that takes a name, and has no completion yet, the one that
// fits the name in its usage line.
func (n nameCompleter) offer(c *cobra.Command) {
	for _, sub := range c.Commands() {
		n.offer(sub)
	}
	if c.ValidArgsFunction == nil && len(c.ValidArgs) == 0 && c.Runnable() {
		c.ValidArgsFunction = n.positions(strings.Fields(c.Use)[1:])
	}
	for flag, offered := range map[string]completion{"repo": n.repos, "merging": n.repos, "agent": n.agents, "json": completeFields} {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, offered) // an error means that it has one already
		}
	}
}

// positions completes each argument by its name in the usage line.
func (n nameCompleter) positions(takes []string) completion {
	return func(c *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
		all := c.Flags().Lookup("all")
		if len(given) >= len(takes) || all != nil && all.Changed {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch strings.Trim(takes[len(given)], "<>[]{}") {
		case "owner/name#number":
			return n.items(c, given, typed)
		case "owner/name":
			return n.repos(c, given, typed)
		case "name": // of a prompt
			return prompts.Names(), cobra.ShellCompDirectiveNoFileComp
		case "dir", "file":
			return nil, cobra.ShellCompDirectiveDefault
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFields completes the fields of --json, separated by commas.
func completeFields(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	chosen := strings.Split(before, ",")
	var all []string
	for _, f := range cli.JSONFields(c) {
		if !slices.Contains(chosen, f) {
			all = append(all, before+f)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (n nameCompleter) repos(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := n.app.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return terminal.Each(cfg.Repos, func(r config.Repo) string { return cfg.Called(r.Name) }), cobra.ShellCompDirectiveNoFileComp
}

func (n nameCompleter) agents(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cfg, err := n.app.Config()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(cfg.Agents)), cobra.ShellCompDirectiveNoFileComp
}

// items completes the work items that passes have seen, newest first, with their titles. If only
// one repository is configured, a word that begins with a digit is completed to a bare number.
func (n nameCompleter) items(c *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var all []string
	if cfg, err := n.app.Config(); err == nil {
		ctx := c.Context()
		if ctx == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		bare := len(cfg.Repos) == 1 && typed != "" && strings.Trim(typed, "0123456789") == ""
		_, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
			all, err = itemsOf(ctx, tx, cfg, bare)
			return err
		})
		if err != nil {
			all = nil
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func itemsOf(ctx context.Context, tx *store.Tx, cfg *config.Config, bare bool) ([]string, error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, r := range cfg.Repos {
		items, err := tx.ListItems(ctx, cli.FindRepo(known, r.Name).ID)
		if err != nil {
			return nil, err
		}
		slices.Reverse(items)
		for _, i := range items {
			name := fmt.Sprintf("%s#%d", cfg.Called(r.Name), i.Number)
			if bare {
				name = fmt.Sprint(i.Number)
			}
			if title := terminal.OneLine(i.Title); !slices.ContainsFunc(all, func(known string) bool { return strings.HasPrefix(known, name+"\t") }) {
				all = append(all, name+"\t"+title)
			}
		}
	}
	return all, nil
}
