// Package show is the command show: the state of one work item, its history, and the prompts and
// changes of its turns.
package show

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// showCmd is one run of show.
type showCmd struct {
	*cli.App
	events bool
	web    bool
	turn   string
	prompt bool
	log    bool
	diff   bool
	json   *terminal.JSON
}

// NewCmd makes the command show.
func NewCmd(a *cli.App) *cobra.Command {
	s := &showCmd{App: a}
	c := &cobra.Command{
		Use:   "show <owner/name#number>",
		Short: "Show the story of one work item",
		Long: `Show one work item: where it stands and where the reviews of its pull request
stand, with each reviewer's verdict and what is still open; where auto_merge is on,
what has to be so before it is merged, and what opens what is not; and on a line of
time what people did, what each turn made of it and cost, and what was sent to
GitHub, with links.
With "--events" show instead what happened about its reviews, the oldest first.

With "--turn" show one turn: by the key that stands behind it, or its first
digits, or "last". "--prompt" prints what its agent was told, "--log" what the log
has of it, with what the agent said, and "--diff" what it changed; without
"--turn" they are about the last turn.

The item is named by its issue or its pull request: owner/name#12, its address,
or #12 (quote it for your shell) or 12 when one repository is configured.`,
		Example: `  $ gh mergexo show octo/repo#12
  $ gh mergexo show 12 --web
  $ gh mergexo show 12 --diff
  $ gh mergexo show 12 --turn 1a2b3c4d --prompt
  $ gh mergexo show 12 --json actions --jq '.actions[].url'`,
		Args: cli.Args(cli.Words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error {
			if err := s.check(); err != nil {
				return err
			}
			return s.run(c.Context(), given[0])
		},
	}
	s.json = cli.AddJSONFlags(c, status.Story{})
	c.Flags().BoolVar(&s.events, "events", false, "What happened about the reviews of its pull request")
	c.Flags().BoolVarP(&s.web, "web", "w", false, "Open its pull request, or else its issue, in the browser")
	c.Flags().StringVar(&s.turn, "turn", "", "The turn with this `key`, or the \"last\"")
	c.Flags().BoolVar(&s.prompt, "prompt", false, "What the turn's agent was told")
	c.Flags().BoolVar(&s.log, "log", false, "What the log has of the turn")
	c.Flags().BoolVar(&s.diff, "diff", false, "What the turn changed")
	return c
}

// check rejects flags that exclude each other: each selects a different output.
func (s *showCmd) check() error {
	asked := 0
	for _, is := range []bool{s.events, s.web, s.prompt, s.log, s.diff, s.json.Asked()} {
		if is {
			asked++
		}
	}
	switch {
	case asked > 1:
		return &cli.UsageError{Err: errors.New("--events, --web, --prompt, --log, --diff and --json do not go together: what --events shows is the field log of --json")}
	case s.turn != "" && (s.events || s.web || s.json.Asked()):
		return &cli.UsageError{Err: errors.New("--turn goes with --prompt, --log or --diff, or stands alone")}
	}
	return nil
}

func (s *showCmd) run(ctx context.Context, name string) error {
	cfg, which, err := s.Item(name)
	if err != nil {
		return err
	}
	story, found, _, err := Read(ctx, s.App, cfg, which)
	if err != nil {
		return err
	}
	if !found {
		return Unknown(story, which.Called(cfg))
	}
	out := s.Output()
	switch {
	case s.json.Asked():
		return s.json.Write(out, story)
	case s.web:
		return s.browse(story)
	case s.turn != "" || s.prompt || s.log || s.diff:
		return s.oneTurn(ctx, cfg, story)
	}
	if story.Halt != nil {
		s.PrintHalt(story.Halt)
	}
	if s.events {
		return story.PrintLog(out)
	}
	return story.Print(out)
}

// Unknown is the error for an unknown item. If its repository could not be read, the error names
// that as the cause.
func Unknown(story status.Story, called string) error {
	if why := story.Unread; why != "" {
		return cli.Coded(cli.CodeUnknownItem, fmt.Errorf("nothing is known of %s: its repository could not be read: %s", called, terminal.OneLine(why)))
	}
	return cli.NoItem(called)
}

// browse opens the item in the browser.
func (s *showCmd) browse(story status.Story) error {
	url := story.Item.Address()
	if url == "" {
		return errors.New("no pass has seen where it is on GitHub yet; make one: gh mergexo tick")
	}
	if terminal.Watched(s.Env.BareErr) {
		fmt.Fprintf(s.Env.Stderr, "Opening %s in your browser.\n", url)
	}
	return terminal.Browse(url, s.Env.Bare, s.Env.BareErr)
}

// Read loads an item. seen is false if there is no database yet.
func Read(ctx context.Context, a *cli.App, cfg *config.Config, which cli.Ref) (s status.Story, found, seen bool, err error) {
	halt, err := cli.Halted(cfg)
	if err != nil {
		return s, false, false, err
	}
	q := status.Query{Config: cfg, Repos: []work.RepoName{which.Repo}, All: true, Now: a.Now(), Halt: halt}
	seen, err = machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		s, found, err = status.LoadStory(ctx, tx, q, which.Number)
		return err
	})
	return s, found, seen, err
}
