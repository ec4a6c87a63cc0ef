// Package complete is what shells complete: the scripts for them, and the names of
// repositories and items, from the config and the database alone.
package complete

import (
	"embed"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// bridges are what has "gh mergexo <TAB>" ask the script of gh-mergexo, a file for each
// shell where that can be.
//
//go:embed bridge.*
var bridges embed.FS

// Describe says what the scripts complete, and has every command complete the names
// that it takes.
func Describe(root *cobra.Command, a *cli.App) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			describe(c, a)
		}
	}
	names{a}.offer(root)
}

func describe(c *cobra.Command, a *cli.App) {
	c.Use, c.Short = "completion <shell>", "Print a script that completes commands for a shell"
	c.Long = "Print a script that completes commands, flags, repositories and items." + aboutScripts
	for _, shell := range c.Commands() {
		shell.Short = "Print the script for " + shell.Name()
		shell.Long = "Print a script that completes commands, flags, repositories and items for " + shell.Name() + "." + aboutScripts + loading[shell.Name()]
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

// writeBridge follows a shell's script; not every shell has one.
func writeBridge(out io.Writer, shell string) error {
	text, err := bridges.ReadFile("bridge." + shell)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err = out.Write(text)
	return err
}

const aboutScripts = `

gh completes its own commands only and does not ask its extensions what follows
them. So the script is for a command gh-mergexo, which you define; in bash, zsh
and fish it answers for "gh mergexo" as well, and leaves all else of gh to gh's
own completion.`

// loading is how each shell gets the command and its completion.
var loading = map[string]string{
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
