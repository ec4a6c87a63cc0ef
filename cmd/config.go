package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/prompts"
)

// newConfigCmd makes the command config, with its subcommands agents and validate.
func newConfigCmd(a *cli.App) *cobra.Command {
	var example, schema bool
	c := a.WithJSON(config.Document{}, &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect",
		Long: `Print the configuration in effect, defaults included, and where it was read from:
--config, $MERGEXO_CONFIG, or $XDG_CONFIG_HOME/mergexo/config.toml
(~/.config/mergexo/config.toml). Editors that use Taplo find the JSON Schema by the
first line of --example: put that line at the top of your config.`,
		Example: `  $ gh mergexo config
  $ gh mergexo config --example > ~/.config/mergexo/config.toml
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
	c.AddCommand(newPresetsCmd(a), newValidateCmd(a))
	return c
}

// configValidation is the output of config validate.
type configValidation struct {
	Problems []configProblem `json:"problems"` // with one, the exit code is 1
	Warnings []string        `json:"warnings"` // allowed settings that are probably mistakes
}

func newValidateCmd(a *cli.App) *cobra.Command {
	return a.WithJSON(configValidation{}, &cobra.Command{
		Use:   "validate [<file>]",
		Short: "Check a config",
		Long: `Check a config as a pass does: the given file, or else the config that passes read.
Each problem is printed on one line, with its place and the likely correction, and
the exit code is then 1. Warnings, for example about a folder that does not exist,
are printed too, but do not change the exit code.`,
		Example: `  $ gh mergexo config validate
  $ gh mergexo config validate new.toml && mv new.toml config.toml
  $ gh mergexo config validate --json problems \
      --jq '.problems[] | "\(.line) \(.key)"'`,
		Args: cli.Args(cli.Words(0, 1)),
		RunE: func(_ *cobra.Command, given []string) error {
			if len(given) == 0 {
				return validateConfig(a)
			}
			a.ConfigPath = given[0]
			err := validateConfig(a)
			if _, missing := errors.AsType[*config.MissingError](err); missing {
				return cli.Coded(cli.CodeNoConfig, fmt.Errorf("there is no file %s", given[0]))
			}
			return err
		},
	})
}

// configProblem is one problem of the config as JSON.
type configProblem struct {
	File string `json:"file"`
	Line int    `json:"line"` // 0: none
	Key  string `json:"key"`  // empty: none
	Text string `json:"text"` // the problem, and what to do
}

func validateConfig(a *cli.App) error {
	cfg, err := a.Config()
	found, invalid := config.Problems(err)
	if err != nil && !invalid { // for example, the file is missing
		return err
	}
	for i := range found {
		found[i].File = a.Environ().ConfigPath // as the caller gave it
	}
	var doubts []string
	if cfg != nil {
		doubts = append(config.Doubts(cfg), machine.Doubts(cfg, a.Environ())...)
		if _, err := prompts.Load(cfg.Runtime.PromptsDir); err != nil { // passes load them with the config
			for line := range strings.Lines(err.Error()) {
				found = append(found, config.Problem{File: cfg.Runtime.PromptsDir, Key: "runtime.prompts_dir", Text: strings.TrimSpace(line)})
			}
		}
	}
	if a.JSON.Asked() {
		problems := terminal.Each(found, func(p config.Problem) configProblem { return configProblem{p.File, p.Line, p.Key, p.Text} })
		err = a.JSON.Write(a.Output(), configValidation{terminal.OrEmpty(problems), terminal.OrEmpty(doubts)})
	} else {
		err = printProblems(a, a.Output(), found, doubts)
	}
	if err == nil && len(found) > 0 {
		return &cli.CodeError{Code: 1}
	}
	return err
}

func printProblems(a *cli.App, out terminal.Output, found []config.Problem, doubts []string) error {
	for _, p := range found {
		if _, err := fmt.Fprintln(out.W, terminal.OneLine(p.String())); err != nil {
			return err
		}
	}
	for _, d := range doubts {
		fmt.Fprintln(a.Notes(out), terminal.OneLine(d))
	}
	if len(found) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(out.W, a.Environ().ConfigPath+": valid")
	return err
}
