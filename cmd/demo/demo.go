// Package demo has the commands of gh mergexo demo. They are in a program of their own, which has all other
// commands, too: the simulated GitHub would make the extension a quarter larger.
package demo

import (
	"errors"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/demo"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

// Commands are the constructors of the commands that only the demo's program has, by their names.
var Commands = map[string]func(*cli.App) *cobra.Command{"demo": newCmd, "demo-agent": newAgentCmd}

func newCmd(a *cli.App) *cobra.Command {
	opt, serve := demo.ServeOptions{}, false
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it work on a simulated GitHub",
		Long: `Play the life of three issues and of a roadmap, from label to merge, on this machine
alone. It needs git, but no account, network, agent or config, and leaves nothing
behind.

It starts a simulated GitHub with a small repository, plays the people who open
issues, comment, review and merge, and runs real passes of this program with a
scripted agent that works and reviews. It kills one pass halfway. It checks each step,
and exits with 1 if one does not happen as printed.

With --serve nothing is played: the simulated GitHub keeps running until Ctrl-C, and
the environment variables are printed with which gh and gh mergexo use it. Nobody else
can reach it. Home folder, login and config are its own; yours are not used.`,
		Example: `  $ gh mergexo demo
  $ gh mergexo demo --keep /tmp/mergexo-demo    # leave everything to look at
  $ gh mergexo demo --serve                     # try gh and gh mergexo by hand
  $ gh mergexo demo --serve --unconfigured      # begin with gh mergexo init`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.Flags().StringVar(&opt.Keep, "keep", "", "Keep everything in `dir`, which must be empty or not exist")
	c.Flags().BoolVar(&serve, "serve", false, "Keep the simulated GitHub running, to try commands by hand")
	c.Flags().StringVar(&opt.Address, "addr", "", "With --serve, listen at a loopback `host:port` instead of a unix socket")
	c.Flags().BoolVar(&opt.Unconfigured, "unconfigured", false, "With --serve, leave the config without a repository, as before init")
	c.Flags().StringVar(&opt.EnvFile, "env", "", "With --serve, write the environment to a `file` for a shell to read")
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
		for _, name := range []string{"addr", "unconfigured", "env"} {
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

// newAgentCmd makes the demo's agent, a program for the command adapter.
func newAgentCmd(a *cli.App) *cobra.Command {
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
	c.Flags().BoolVar(&improvise, "improvise", false, "Answer also what the story has no answer for")
	return c
}
