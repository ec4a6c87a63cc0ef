package about

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// NewPromptsCmd makes the commands about prompts.
func NewPromptsCmd(app *cli.App) *cobra.Command {
	a := &room{app}
	c := &cobra.Command{
		Use:   "prompts <command>",
		Short: "Show the prompts of agents",
		Long: `Show the prompts of agents. To replace one, put NAME.tmpl into the folder prompts
beside the config (or runtime.prompts_dir). "gh mergexo prompts show NAME --source"
prints the built-in one to begin with. A pass that reads the config tests your
prompts; an invalid one stops it with the file and the line.`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.AddCommand(newPromptsListCmd(a), newPromptsShowCmd(a))
	return c
}

func newPromptsListCmd(a *room) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the prompts, and which of them are your own",
		Example: "  $ gh mergexo prompts list",
		Args:    cli.Args(cli.Words(0, 0)),
		RunE: func(*cobra.Command, []string) error {
			pack, err := a.pack()
			if err != nil {
				return err
			}
			return a.Output().Table([]string{"NAME", "MODE", "FROM"}, terminal.Each(prompts.Names(), func(name string) []string {
				_, path, _ := pack.Source(name)
				return []string{name, string(usedIn(name)), cmp.Or(path, builtIn)}
			}))
		},
	}
}

// builtIn is the origin of our own prompts and personas.
const builtIn = "built in"

// usedIn returns the mode in which an agent gets a prompt; parts occur in both modes.
func usedIn(name string) work.Mode {
	if kind := work.Kind(name); prompts.Known(kind) {
		return kind.Mode()
	}
	return "part"
}

// pack returns the prompts as configured; without a config, ours.
func (a *room) pack() (*prompts.Pack, error) {
	cfg, err := a.Config()
	if missing(err) {
		return prompts.Load("")
	}
	if err != nil {
		return nil, err
	}
	pack, err := prompts.Load(cfg.Runtime.PromptsDir)
	return pack, cli.Coded(cli.CodeBadConfig, err)
}

func newPromptsShowCmd(a *room) *cobra.Command {
	var source bool
	q := promptQuery{}
	c := &cobra.Command{
		Use:   "show <name> [owner/name#number]",
		Short: "Print a prompt as it would be sent",
		Long: `Print a prompt exactly as an agent would get it for a work item. It reads GitHub and
the database like tick --dry-run, and writes nothing. If the turn has begun, it prints
the prompt that was sent. An agent that continues a session is told only what is new
or different since its last turn. Without a work item it prints an example.

Prompts differ from agent to agent: --agent prints the one for another agent than the
configured one. A reviewer's prompt contains its persona; --reviewer selects the
reviewer.`,
		Example: `  $ gh mergexo prompts show bugfix_start octo/repo#12
  $ gh mergexo prompts show review --agent claude --reviewer sam
  $ gh mergexo prompts show system_base --source \
      > ~/.config/mergexo/prompts/system_base.tmpl`,
		Args: cli.Args(cli.Words(1, 2)),
		RunE: func(c *cobra.Command, given []string) error {
			if !slices.Contains(prompts.Names(), given[0]) {
				return &cli.UsageError{Err: fmt.Errorf("no prompt is called %q; %s%s", given[0], meant(given[0]), strings.Join(prompts.Names(), ", "))}
			}
			if q.name = given[0]; len(given) > 1 {
				q.item = given[1]
			}
			if source {
				return a.showSource(q)
			}
			shown, err := a.promptText(c.Context(), q)
			if err != nil {
				return err
			}
			if shown.Stored {
				fmt.Fprintln(a.Env.Stderr, "this prompt was sent for the turn in progress")
			}
			if shown.Early {
				fmt.Fprintln(a.Env.Stderr, "nothing asks for such a turn now; its prompt would be this")
			}
			_, err = io.WriteString(a.Env.Stdout, shown.Text)
			return err
		},
	}
	c.Flags().StringVar(&q.agent, "agent", "", "Print it for this `agent` of the config")
	c.Flags().StringVar(&q.reviewer, "reviewer", "", "Print it for this `reviewer`, of the config or built in")
	c.Flags().BoolVar(&source, "source", false, "Print the template of the built-in prompt, to change it")
	return c
}

// promptQuery is the command line of prompts show.
type promptQuery struct{ name, item, agent, reviewer string }

func (a *room) showSource(q promptQuery) error {
	if q.item != "" {
		return &cli.UsageError{Err: errors.New("--source is about no work item")}
	}
	ours, err := prompts.Load("") // the built-in pack: if the output goes to a file of the configured pack, the shell has already emptied it
	if err != nil {
		return err
	}
	text, _, _ := ours.Source(q.name)
	_, err = io.WriteString(a.Env.Bare, text) // without redaction: the text is ours and goes to a file
	return err
}

func (a *room) promptText(ctx context.Context, q promptQuery) (tick.Prompt, error) {
	if q.item != "" {
		return a.promptOf(ctx, q)
	}
	text, err := a.example(q)
	return tick.Prompt{Text: text}, err
}

// example renders a prompt with sample data.
func (a *room) example(q promptQuery) (string, error) {
	pack, err := a.pack()
	if err != nil {
		return "", err
	}
	kind := work.Kind(q.name)
	if !prompts.Known(kind) {
		kind = work.KindImplementationFeedback
	}
	sample, err := a.sample(kind, q.agent)
	if err != nil {
		return "", err
	}
	if err := a.fillReviewer(&sample, q.reviewer); err != nil {
		return "", err
	}
	if string(kind) == q.name {
		return pack.Render(kind, sample)
	}
	return pack.Part(q.name, kind, sample)
}

// sample returns sample data for an agent of the config; without a config, for the default agent.
func (a *room) sample(kind work.Kind, agentName string) (prompts.Context, error) {
	c := prompts.Sample()
	s := c.Surroundings
	like := config.Repo{RequiredTests: s.RequiredTests}
	cfg, err := a.Config()
	if missing(err) {
		cfg, err = config.Without(a.Environ()), nil
		cfg.Runtime.TurnTimeout, cfg.Runtime.IdleTimeout = time.Duration(s.TurnSeconds)*time.Second, time.Duration(s.IdleSeconds)*time.Second
		cfg.Runtime.TestTimeout = time.Duration(s.TestSeconds) * time.Second
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
	if _, err := cli.AgentNamed(cfg, agentName); err != nil {
		return c, err
	}
	c.Surroundings = turn.Surroundings(cfg, cfg.Agents[agentName], like, kind)
	return c, nil
}

// promptOf renders a prompt for a work item.
func (a *room) promptOf(ctx context.Context, q promptQuery) (shown tick.Prompt, err error) {
	cfg, which, err := a.Item(q.item)
	if err != nil {
		return shown, err
	}
	if q.agent != "" {
		if _, err := cli.AgentNamed(cfg, q.agent); err != nil {
			return shown, err
		}
	}
	scratch, err := os.MkdirTemp("", "mergexo-prompt-")
	if err != nil {
		return shown, fmt.Errorf("make a folder for a mirror: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	m, err := a.Machine(cfg)
	if err != nil {
		return shown, err
	}
	pass, done, err := m.Pass(ctx, machine.PassOptions{Only: &which.Repo, DryRun: true})
	if err != nil {
		return shown, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return pass.ShowPrompt(ctx, tick.PromptQuery{
		Repo: which.Repo, Number: which.Number, Name: q.name, Agent: q.agent, Reviewer: q.reviewer,
		Mirror: func(r env.Remote, repo work.Repo) env.Mirror { return m.ScratchMirror(scratch, r, repo) },
	})
}

// missing reports that there is no config, which is not an error here.
func missing(err error) bool {
	_, is := errors.AsType[*config.MissingError](err)
	return is
}

// meant introduces the list of prompts, after the one that a misspelt name most likely means.
func meant(name string) string {
	if near := work.Nearest(name, prompts.Names()); near != "" {
		return fmt.Sprintf("did you mean %s? There are ", near)
	}
	return "there are "
}
