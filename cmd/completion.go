package cmd

import (
	"github.com/spf13/cobra"
)

// describeCompletion says what the scripts complete. gh asks no extension what
// could be typed after its name, so they are for a command of one's own.
func describeCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Use = "completion <shell>"
		c.Long = "Print a script that completes commands and flags for a shell." + aboutCompletion
		for _, shell := range c.Commands() {
			shell.Long = "Print a script that completes commands and flags for " + shell.Name() + "." + aboutCompletion + loading[shell.Name()]
			shell.Example = "  $ gh mergexo completion " + shell.Name()
		}
	}
}

const aboutCompletion = `

gh completes its own commands only and does not ask its extensions, so "gh
mergexo <TAB>" offers nothing. The script completes the command gh-mergexo
instead: define it once, and type gh-mergexo wherever you would type gh mergexo.`

// loading is how each shell gets the command and its completion.
var loading = map[string]string{
	"bash": `

Put these two lines into ~/.bashrc (the package bash-completion is needed):

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
