package cmd

import (
	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/demo"
)

func newDemoCmd(a *app) *cobra.Command {
	keep := ""
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a GitHub, a repository and an agent of its own",
		Long: `Play the life of three issues, from label to merge, on this machine alone: no
account, network, agent or config is needed, and nothing is left behind.

It starts a simulated GitHub with a small repository, plays the people who open
issues, comment, review and merge, and makes real passes of this program, one of
which it kills halfway, with a scripted agent that works and reviews. It checks
what it tells, and ends with code 1 when anything did not happen as told.`,
		Example: `  $ gh mergexo demo
  $ gh mergexo demo --keep /tmp/mergexo-demo    # leave everything to look at`,
		Args: args(words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error {
			return demo.Play(c.Context(), demo.Options{Out: newOutput(a.env), Now: a.now, Env: config.Environ(), Keep: keep})
		},
	}
	c.Flags().StringVar(&keep, "keep", "", "Leave everything in `dir`, which must be empty or not exist")
	return c
}

// newDemoAgentCmd is the demo's agent as a program for the command adapter.
func newDemoAgentCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "demo-agent <log>",
		Short:  "The scripted agent of the demo",
		Hidden: true,
		Args:   args(words(1, 1)),
		RunE: func(_ *cobra.Command, given []string) error {
			return demo.Agent(a.env.Stdin, a.env.bare, ".", given[0])
		},
	}
}
