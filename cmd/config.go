package cmd

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/prompts"
)

// newConfigCmd makes the command config, with its subcommand agents.
func newConfigCmd(a *cli.App) *cobra.Command {
	var example, schema bool
	c := a.WithJSON(config.Document{}, &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect",
		Long: `Print the configuration in effect, defaults included, and where it was read from:
--config, $MERGEXO_CONFIG, or $XDG_CONFIG_HOME/mergexo/config.toml
(~/.config/mergexo/config.toml). If it is invalid, print each problem on one line
with its place and the likely correction, and exit with 1. Editors that use Taplo find
the JSON Schema by the first line of --example: put that line at the top of your config.`,
		Example: `  $ gh mergexo config
  $ gh mergexo config --example > ~/.config/mergexo/config.toml
  $ gh mergexo config --config new.toml && mv new.toml config.toml
  $ gh mergexo config --json path --jq .path`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case example:
				_, err := io.WriteString(a.Env.Stdout, config.Example())
				return err
			case schema:
				text, err := config.JSONSchema()
				if err == nil {
					_, err = a.Env.Stdout.Write(text)
				}
				return err
			}
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			if _, err := prompts.Load(cfg.Runtime.PromptsDir); err != nil {
				return cli.Coded(cli.CodeBadConfig, err)
			}
			if a.JSON.Asked() {
				object, err := config.Object(cfg)
				return errors.Join(err, a.JSON.Write(a.Output(), object))
			}
			return config.Print(a.Env.Stdout, cfg)
		},
	})
	c.Flags().BoolVar(&example, "example", false, "Print a commented example")
	c.Flags().BoolVar(&schema, "schema", false, "Print the JSON Schema (draft 2020-12), for editors")
	c.AddCommand(newPresetsCmd(a))
	return c
}
