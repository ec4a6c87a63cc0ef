// Package config is the command of that name: what is in effect, whether a config is valid,
// and its schema.
package config

import (
	"errors"
	"io"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts"
)

// NewCmd makes the command.
func NewCmd(a *cli.App) *cobra.Command {
	var example bool
	var flags *terminal.JSON
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect",
		Long: `Print where the configuration was read from and what is in effect, defaults
included. It is looked for at --config, $MERGEXO_CONFIG and
$XDG_CONFIG_HOME/mergexo/config.toml (~/.config/mergexo/config.toml).`,
		Example: `  $ gh mergexo config
  $ gh mergexo config --example > ~/.config/mergexo/config.toml
  $ gh mergexo config --json path --jq .path`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			if example {
				_, err := io.WriteString(a.Env.Stdout, config.Example)
				return err
			}
			cfg, err := a.Config()
			if err != nil {
				return err
			}
			if _, err := prompts.Load(cfg.Runtime.PromptsDir); err != nil {
				return cli.Coded(cli.CodeBadConfig, err)
			}
			if flags.Asked() {
				object, err := config.Object(cfg)
				return errors.Join(err, flags.Write(a.Output(), object))
			}
			return config.Print(a.Env.Stdout, cfg)
		},
	}
	flags = cli.AddJSONFlags(c, config.Document{})
	c.Flags().BoolVar(&example, "example", false, "Print a commented example instead")
	c.AddCommand(newValidateCmd(a), newSchemaCmd(a))
	return c
}
