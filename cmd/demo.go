package cmd

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
)

// newDemoCmd makes the command demo of a program without the simulated GitHub, as an installed extension is:
// it says how to get the one that has it.
func newDemoCmd(a *cli.App) *cobra.Command {
	if made := a.Env.Demo["demo"]; made != nil {
		return made(a)
	}
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work on a simulated GitHub",
		Long: `The demo is in a clone of gh mergexo, which builds it: git and Go are needed, but no
account and no agent:

  ` + cloneFirst + `
  ./gh-mergexo demo`,
	}
	c.FParseErrWhitelist.UnknownFlags = true // those of the demo
	c.RunE = func(*cobra.Command, []string) error {
		return errors.New("the demo is in a clone, which builds it with Go:\n  " + cloneFirst + "\n  " +
			strings.Join(append([]string{"./gh-mergexo"}, a.Env.Args...), " "))
	}
	return c
}

const cloneFirst = "git clone https://github.com/mergexo/gh-mergexo && cd gh-mergexo"
