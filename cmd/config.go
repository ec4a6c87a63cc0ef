package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/nearest"
	"github.com/mergexo/gh-mergexo/prompts"
)

// config reads the configuration as --config and the environment say.
func (a *app) config() (*config.Config, error) {
	cfg, err := config.Load(a.environ(), github.DefaultHost())
	if err != nil {
		return nil, err
	}
	a.stateDir = cfg.Runtime.StateDir
	return cfg, cfg.CheckAccounts(github.KnownAccounts)
}

// environ is the environment, with the config that --config names.
func (a *app) environ() config.Env {
	env := config.Environ()
	if a.configPath != "" {
		env.ConfigPath = a.configPath
	}
	return env
}

// repos are the configured repositories, or the one of them that is named.
func repos(cfg *config.Config, only string) ([]work.RepoName, error) {
	all := terminal.Each(cfg.Repos, func(r config.Repo) work.RepoName { return r.Name })
	if only == "" {
		return all, nil
	}
	wanted, err := work.ParseRepoName(only, github.DefaultHost())
	if err != nil {
		return nil, &usageError{err}
	}
	if r, ok := cfg.Repo(wanted); ok {
		return []work.RepoName{r.Name}, nil
	}
	short := slices.DeleteFunc(slices.Clone(all), func(n work.RepoName) bool { return !strings.EqualFold(n.FullName(), only) })
	if len(short) == 1 { // on another host than gh's own
		return short, nil
	}
	err = fmt.Errorf("repository %s is not in %s; known: %s", wanted, cfg.Path, names(all))
	if meant := nearest.Of(wanted.FullName(), terminal.Each(all, work.RepoName.FullName)); meant != "" {
		err = fmt.Errorf("%w; did you mean %s?", err, meant)
	}
	return nil, err
}

func newConfigCmd(a *app) *cobra.Command {
	var example bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect",
		Long: `Print where the configuration was read from and what is in effect, defaults
included. It is looked for at --config, $MERGEXO_CONFIG and
$XDG_CONFIG_HOME/mergexo/config.toml (~/.config/mergexo/config.toml).`,
		Example: `  $ gh mergexo config
  $ gh mergexo config --example > ~/.config/mergexo/config.toml`,
		Args: args(words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			if example {
				_, err := io.WriteString(a.env.Stdout, config.Example)
				return err
			}
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if _, err := prompts.Load(cfg.Runtime.PromptsDir); err != nil {
				return err
			}
			return config.Print(a.env.Stdout, cfg)
		},
	}
	c.Flags().BoolVar(&example, "example", false, "Print a commented example instead")
	return c
}
