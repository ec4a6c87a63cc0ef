package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/brief"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func newPromptsCmd(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "prompts <command>",
		Short: "Show what agents are told",
		Long: `Show what agents are told. Every prompt can be replaced by one of your own: put
NAME.tmpl into the folder prompts beside the config (or runtime.prompts_dir).
"prompts show NAME --template" prints ours, to begin with. Yours are tried out
whenever the config is read for a pass; one that is broken stops it with the
file and the line.`,
		Args: args(words(0, 0)),
	}
	c.AddCommand(newPromptsListCmd(a), newPromptsShowCmd(a))
	return c
}

func newPromptsListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the prompts, and which of them are your own",
		Args:  args(words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			pack, err := a.pack()
			if err != nil {
				return err
			}
			rows := terminal.Each(prompts.Names(), func(name string) []string {
				_, path, _ := pack.Source(name)
				return []string{name, string(usedIn(name)), cmp.Or(path, "built in")}
			})
			return newOutput(a.env).Table([]string{"NAME", "MODE", "FROM"}, rows)
		},
	}
}

// usedIn is the mode in which an agent gets a prompt; a part comes in both.
func usedIn(name string) work.Mode {
	if kind := work.Kind(name); prompts.Known(kind) {
		return kind.Mode()
	}
	return "part"
}

// pack is the prompts as configured; without a config they are our own.
func (a *app) pack() (*prompts.Pack, error) {
	cfg, err := a.config()
	if _, missing := errors.AsType[*config.MissingError](err); missing {
		return prompts.Load("")
	}
	if err != nil {
		return nil, err
	}
	return prompts.Load(cfg.Runtime.PromptsDir)
}

func newPromptsShowCmd(a *app) *cobra.Command {
	var source bool
	var agentName string
	c := &cobra.Command{
		Use:   "show <name> [owner/name#number]",
		Short: "Print a prompt as it would be sent",
		Long: `Print a prompt exactly as an agent would get it for a work item: GitHub and the
database are read as by tick --dry-run, and nothing is written. For a turn that
is under way it is what was sent. Without a work item an example is filled in.
Agents differ in how they give their answer and in what they can do: the prompt
is the configured agent's, or that of --agent.`,
		Example: `  $ gh mergexo prompts show bugfix_start octo/repo#12
  $ gh mergexo prompts show review --agent claude
  $ gh mergexo prompts show system_base --template \
      > ~/.config/mergexo/prompts/system_base.tmpl`,
		Args: args(words(1, 2)),
		RunE: func(c *cobra.Command, given []string) error {
			if !slices.Contains(prompts.Names(), given[0]) {
				return &usageError{fmt.Errorf("no prompt is called %q; there are %s", given[0], strings.Join(prompts.Names(), ", "))}
			}
			if source {
				return a.showTemplate(given)
			}
			text, err := a.promptText(c.Context(), given, agentName)
			if err == nil {
				_, err = io.WriteString(a.env.Stdout, text)
			}
			return err
		},
	}
	c.Flags().StringVar(&agentName, "agent", "", "Print it as this agent of the config would get it")
	c.Flags().BoolVar(&source, "template", false, "Print our own template instead of a prompt")
	return c
}

func (a *app) showTemplate(given []string) error {
	if len(given) > 1 {
		return &usageError{errors.New("--template is about no work item")}
	}
	ours, err := prompts.Load("") // the shell may have emptied the operator's own already
	if err != nil {
		return err
	}
	text, _, _ := ours.Source(given[0])
	_, err = io.WriteString(a.env.bare, text) // ours, and for a file
	return err
}

func (a *app) promptText(ctx context.Context, given []string, agentName string) (string, error) {
	name := given[0]
	if len(given) == 2 {
		return a.promptOf(ctx, name, given[1], agentName)
	}
	pack, err := a.pack()
	if err != nil {
		return "", err
	}
	kind := work.Kind(name)
	if !prompts.Known(kind) {
		kind = work.KindImplementationFeedback
	}
	sample, err := a.sample(kind, agentName)
	if err != nil {
		return "", err
	}
	if string(kind) == name {
		return pack.Render(kind, sample)
	}
	return pack.Part(name, kind, sample)
}

// sample is the example that is filled in, for an agent of the config; without
// a config, for the one that an empty config has.
func (a *app) sample(kind work.Kind, agentName string) (prompts.Context, error) {
	c := prompts.Sample()
	s := c.Surroundings
	like := config.Repo{RequiredTests: s.RequiredTests, TestTimeout: time.Duration(s.TestSeconds) * time.Second}
	cfg, err := a.config()
	if _, missing := errors.AsType[*config.MissingError](err); missing {
		cfg, err = &config.Config{
			Runtime: config.Runtime{Agent: config.AdapterCodex, TurnTimeout: time.Duration(s.TurnSeconds) * time.Second, IdleTimeout: time.Duration(s.IdleSeconds) * time.Second},
			Agents: map[string]config.Agent{
				config.AdapterCodex: {Name: config.AdapterCodex, Adapter: config.AdapterCodex}, config.AdapterClaude: {Name: config.AdapterClaude, Adapter: config.AdapterClaude},
			},
		}, nil
	}
	if err != nil {
		return c, err
	}
	if agentName == "" && len(cfg.Repos) == 1 {
		found, _ := cfg.AgentFor(cfg.Repos[0].Name, kind, "")
		agentName = found.Name
	}
	if agentName == "" {
		agentName = cfg.Runtime.Agent
	}
	if err := knownAgent(cfg, agentName); err != nil {
		return c, err
	}
	c.Surroundings = brief.Surroundings(cfg, cfg.Agents[agentName], like, kind)
	return c, nil
}

// knownAgent refuses a name that the config does not have.
func knownAgent(cfg *config.Config, name string) error {
	if _, ok := cfg.Agents[name]; ok {
		return nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(cfg.Agents)), ", ")
	return &usageError{fmt.Errorf("no agent is called %q; there are %s", name, names)}
}

// promptOf renders a prompt for a work item.
func (a *app) promptOf(ctx context.Context, name, about, agentName string) (text string, err error) {
	cfg, which, err := a.item(about)
	if err != nil {
		return "", err
	}
	if agentName != "" {
		if err := knownAgent(cfg, agentName); err != nil {
			return "", err
		}
	}
	scratch, err := os.MkdirTemp("", "mergexo-prompt-")
	if err != nil {
		return "", fmt.Errorf("make a folder for a mirror: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	m, err := a.machine(cfg)
	if err != nil {
		return "", err
	}
	pass, done, err := m.Pass(ctx, machine.PassOptions{Only: &which.repo, DryRun: true})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	shown, err := pass.ShowPrompt(ctx, tick.PromptQuery{
		Repo: which.repo, Number: which.number, Name: name, Agent: agentName,
		Mirror: func(r env.Remote, repo work.Repo) env.Mirror { return m.ScratchMirror(scratch, r, repo) },
	})
	if shown.Stored {
		fmt.Fprintln(a.env.Stderr, "this is what the turn that is under way was given")
	}
	return shown.Text, err
}
