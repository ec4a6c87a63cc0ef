// Package notify has the commands about [[notify]]: a message to try it, and what was sent.
package notify

import (
	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"
)

// NewCmd makes the command notify.
func NewCmd(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "notify <command>",
		Short: "Try who is told outside of GitHub, and see what was sent",
		Long: `Try who is told outside of GitHub, and see what was sent.

A [[notify]] of the config names a program or an address that is told of questions,
blocked work, pull requests, merges, spent budgets and passes that fail. A pass
sends each message at most once.`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.AddCommand(newTestCmd(a), newListCmd(a))
	return c
}
