package cmd

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// config reads the configuration as --config and the environment say.
func (a *app) config() (*config.Config, error) {
	env := config.Environ()
	if a.configPath != "" {
		env.ConfigPath = a.configPath
	}
	return config.Load(env, github.DefaultHost())
}

// repos are the configured repositories, or the one of them that is named.
func repos(cfg *config.Config, only string) ([]work.RepoName, error) {
	all := each(cfg.Repos, func(r config.Repo) work.RepoName { return r.Name })
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
	return nil, fmt.Errorf("repository %s is not in %s; known: %s", wanted, cfg.Path, names(all))
}

func (a *app) newConfigCmd() *cobra.Command {
	var example bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect",
		Long: `Print where the configuration was read from and what is in effect, defaults
included. It is looked for at --config, $MERGEXO_CONFIG and
$XDG_CONFIG_HOME/mergexo/config.toml (~/.config/mergexo/config.toml).`,
		Example: `  $ gh mergexo config
  $ gh mergexo config --example > ~/.config/mergexo/config.toml`,
		Args: args(cobra.NoArgs),
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
			return printConfig(a.env.Stdout, cfg)
		},
	}
	c.Flags().BoolVar(&example, "example", false, "Print a commented example instead")
	return c
}

// The effective config as TOML. Reading it back gives the same config.
type (
	configDoc struct {
		Runtime  runtimeDoc          `toml:"runtime"`
		Schedule scheduleDoc         `toml:"schedule"`
		Agents   map[string]agentDoc `toml:"agents"`
		Repos    []repoDoc           `toml:"repo"`
	}
	runtimeDoc struct {
		Workers                   int     `toml:"workers"`
		Agent                     string  `toml:"agent,omitempty"`
		TurnTimeout               string  `toml:"turn_timeout"`
		IdleTimeout               string  `toml:"idle_timeout"`
		RetryBase                 string  `toml:"retry_base"`
		QuietPeriod               string  `toml:"quiet_period"`
		MinInterval               string  `toml:"min_interval"`
		SettleAfter               string  `toml:"settle_after"`
		MaxTurnsPerPass           int     `toml:"max_turns_per_pass"`
		MaxEventsPerTurn          int     `toml:"max_events_per_turn"`
		TurnsPerItem              int     `toml:"max_turns_per_item"`
		FeedbackRounds            int     `toml:"max_feedback_rounds"`
		CostPerItem               float64 `toml:"max_cost_per_item_usd"`
		TurnsPerDay               int     `toml:"max_turns_per_day"`
		CostPerDay                float64 `toml:"max_cost_per_day_usd"`
		EnableFeedbackLoop        bool    `toml:"enable_feedback_loop"`
		EnableIssueCommentRouting bool    `toml:"enable_issue_comment_routing"`
		Overlap                   bool    `toml:"overlap"`
		StateDir                  string  `toml:"state_dir"`
		PromptsDir                string  `toml:"prompts_dir,omitempty"`
		Sandbox                   string  `toml:"sandbox"`
		Accounts                  []int64 `toml:"accounts,omitempty"`
	}
	agentDoc struct {
		Adapter string   `toml:"adapter"`
		Command []string `toml:"command,omitempty"`
		Model   string   `toml:"model,omitempty"`
		Effort  string   `toml:"effort,omitempty"`
		Args    []string `toml:"args,omitempty"`
		EnvPass []string `toml:"env_pass,omitempty"`
		Session string   `toml:"session"`

		Sandbox  string   `toml:"sandbox,omitempty"`
		Writable []string `toml:"writable,omitempty"`
	}
	repoDoc struct {
		Name         string            `toml:"name"`
		RemoteURL    string            `toml:"remote_url,omitempty"`
		AllowedUsers []string          `toml:"allowed_users,omitempty"`
		KeepIgnored  bool              `toml:"keep_ignored"`
		MaxFiles     int               `toml:"max_files"`
		MaxFileBytes int64             `toml:"max_file_bytes"`
		Protected    []string          `toml:"protected_paths"`
		Checks       string            `toml:"checks"`
		Tests        []string          `toml:"required_tests,omitempty"`
		TestTimeout  string            `toml:"test_timeout"`
		TestFiles    string            `toml:"test_file_regex,omitempty"`
		Labels       labelsDoc         `toml:"labels"`
		Agents       map[string]string `toml:"agents,omitempty"`
	}
	scheduleDoc struct {
		Priority  float64 `toml:"priority_weight"`
		Conflict  float64 `toml:"conflict_weight"`
		Staleness float64 `toml:"staleness_penalty"`
	}
	labelsDoc struct {
		Design   string `toml:"design"`
		Bugfix   string `toml:"bugfix"`
		SmallJob string `toml:"small_job"`
		Ignore   string `toml:"ignore"`
	}
)

func printConfig(w io.Writer, cfg *config.Config) error {
	if _, err := fmt.Fprintf(w, "# %s, with the defaults\n", cfg.Path); err != nil {
		return err
	}
	doc := configDoc{
		Runtime:  runtimeDocOf(cfg.Runtime),
		Schedule: scheduleDoc(cfg.Schedule),
		Agents:   map[string]agentDoc{},
		Repos:    each(cfg.Repos, repoDocOf),
	}
	for name, a := range cfg.Agents {
		doc.Agents[name] = agentDoc{a.Adapter, a.Command, a.Model, a.Effort, a.Args, a.EnvPass, string(a.Session), string(a.Sandbox), a.Writable}
	}
	e := toml.NewEncoder(w)
	e.Indent = ""
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("print the config: %w", err)
	}
	return nil
}

func runtimeDocOf(r config.Runtime) runtimeDoc {
	return runtimeDoc{
		Workers: r.Workers, Agent: r.Agent,
		TurnTimeout: short(r.TurnTimeout), IdleTimeout: short(r.IdleTimeout), RetryBase: short(r.RetryBase),
		QuietPeriod: short(r.QuietPeriod), MinInterval: short(r.MinInterval), SettleAfter: short(r.SettleAfter),
		MaxTurnsPerPass: r.MaxTurnsPerPass, MaxEventsPerTurn: r.MaxEventsPerTurn,
		TurnsPerItem: r.Budgets.TurnsPerItem, FeedbackRounds: r.Budgets.FeedbackRounds, CostPerItem: r.Budgets.CostPerItem,
		TurnsPerDay: r.Budgets.TurnsPerDay, CostPerDay: r.Budgets.CostPerDay,
		EnableFeedbackLoop: r.EnableFeedbackLoop, EnableIssueCommentRouting: r.EnableIssueCommentRouting,
		Overlap: r.Overlap, StateDir: r.StateDir, Sandbox: string(r.Sandbox), PromptsDir: existing(r.PromptsDir), Accounts: r.Accounts,
	}
}

func repoDocOf(r config.Repo) repoDoc {
	doc := repoDoc{
		Name: r.Name.String(), RemoteURL: r.RemoteURL, AllowedUsers: r.AllowedUsers, KeepIgnored: r.KeepIgnored,
		MaxFiles: r.MaxFiles, MaxFileBytes: r.MaxFileBytes, Protected: r.ProtectedPaths,
		Checks: string(r.Checks), Tests: r.RequiredTests, TestTimeout: short(r.TestTimeout),
		Labels: labelsDoc{r.Labels.Design, r.Labels.Bugfix, r.Labels.SmallJob, r.Labels.Ignore},
		Agents: map[string]string{},
	}
	if r.TestFiles != nil {
		doc.TestFiles = r.TestFiles.String()
	}
	for kind, agent := range r.Agents {
		doc.Agents[string(kind)] = agent
	}
	return doc
}

// existing is a folder that is there; the config may not name another.
func existing(dir string) string {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// short writes a duration as people do: 30m, not 30m0s.
func short(d time.Duration) string {
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}
