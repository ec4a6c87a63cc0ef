package cmd

import (
	"errors"
	"net"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/demo"
)

func newDemoCmd(a *app) *cobra.Command {
	opt, serve := demo.ServeOptions{}, false
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a GitHub, a repository and an agent of its own",
		Long: `Play the life of three issues, from label to merge, on this machine alone: no
account, network, agent or config is needed, and nothing is left behind.

It starts a simulated GitHub with a small repository, plays the people who open
issues, comment, review and merge, and makes real passes of this program, one of
which it kills halfway, with a scripted agent that works and reviews. It checks
what it tells, and ends with code 1 when anything did not happen as told.

With --serve nothing is played: the simulated GitHub stays up until Ctrl-C, and
the environment is printed in which gh and gh mergexo talk to it, to try them by
hand. Nobody else reaches it, and nothing of yours is used: home folder, login
and config are of its own.`,
		Example: `  $ gh mergexo demo
  $ gh mergexo demo --keep /tmp/mergexo-demo    # leave everything to look at
  $ gh mergexo demo --serve                     # try gh and gh mergexo by hand
  $ gh mergexo demo --serve --unconfigured      # begin with gh mergexo init`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.Flags().StringVar(&opt.Keep, "keep", "", "Leave everything in `dir`, which must be empty or not exist")
	c.Flags().BoolVar(&serve, "serve", false, "Keep the simulated GitHub up, to try commands by hand")
	c.Flags().StringVar(&opt.Address, "addr", "", "With --serve, answer at a loopback `host:port` instead of a unix socket")
	c.Flags().BoolVar(&opt.Unconfigured, "unconfigured", false, "With --serve, leave the config without a repository, as before init")
	c.Flags().StringVar(&opt.EnvFile, "env", "", "With --serve, write the environment to a `file` for a shell to read")
	opt.JSON = cli.AddJSONFlags(c, demo.World{})
	c.RunE = func(c *cobra.Command, _ []string) error {
		opt.Out, opt.Now, opt.Env = a.Output(), a.Now, environ.Read()
		if serve {
			var err error
			if opt.EnvFile != "" {
				opt.EnvFile, err = filepath.Abs(opt.EnvFile)
			}
			if err = errors.Join(err, loopback(opt.Address)); err != nil {
				return err
			}
			return demo.Serve(c.Context(), opt)
		}
		for _, name := range []string{"addr", "unconfigured", "env", "json"} {
			if c.Flags().Changed(name) {
				return &cli.UsageError{Err: errors.New("--" + name + " goes with --serve")}
			}
		}
		opt.Slow = func(what string) func() {
			shown := a.Progress()
			shown.Spinner(what)
			return shown.Close
		}
		return demo.Play(c.Context(), opt.Options)
	}
	return c
}

// loopback rejects an address that other machines can reach: the simulated GitHub does not
// authenticate its users.
func loopback(address string) error {
	if address == "" {
		return nil
	}
	name, _, err := net.SplitHostPort(address)
	if err == nil && name != "localhost" && !net.ParseIP(name).IsLoopback() {
		err = errors.New("others reach it; take 127.0.0.1 or [::1]")
	}
	if err != nil {
		return &cli.UsageError{Err: errors.New("--addr " + address + ": " + err.Error())}
	}
	return nil
}

// newDemoAgentCmd makes the demo's agent, a program for the command adapter.
func newDemoAgentCmd(a *app) *cobra.Command {
	improvise := false
	c := &cobra.Command{
		Use:    "demo-agent <log>",
		Short:  "The scripted agent of the demo",
		Hidden: true,
		Args:   cli.Args(cli.Words(1, 1)),
		RunE: func(_ *cobra.Command, given []string) error {
			agent := demo.Agent
			if improvise {
				agent = demo.Improviser
			}
			return agent(a.Env.Stdin, a.Env.Bare, ".", given[0])
		},
	}
	c.Flags().BoolVar(&improvise, "improvise", false, "Do something also where the story does not say what")
	return c
}
