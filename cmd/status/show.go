// This file is the command show: the state of one work item, its history, and the prompts and
// changes of its turns.

package status

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/schedule"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// showCmd is one run of show.
type showCmd struct {
	*cli.App
	graph  bool
	web    bool
	turn   string
	prompt bool
	log    bool
	diff   bool
	whole  bool
}

// NewShowCmd makes the command show.
func NewShowCmd(a *cli.App) *cobra.Command {
	s := &showCmd{App: a}
	c := a.WithJSON(Story{}, &cobra.Command{
		Use:        "show <owner/name#number>",
		SuggestFor: []string{"view"},
		Short:      "Show the history of one work item",
		Long: `Show one work item: its state, the state of its reviews with each reviewer's verdict
and what is still open, and a timeline: what people did, what each turn did and cost,
and what was sent to GitHub, with links. If auto_merge is on, show the gates of the
merge, and what opens those that are closed.

With --graph draw a merged roadmap as a tree: its issues, how far work on each has
come, and what each waits for. An issue stands below one that it needs; "needs" names
all others. For programs, the first line is the roadmap itself.

With --turn show one turn, by its key in the timeline, the first digits of the key, or
"last". --prompt prints the prompt of its agent, --log its log lines with the output
of the agent, --diff what it changed, --transcript what it was told, did and answered;
without --turn they are about the last turn that has one.

Name the item by its issue or its pull request: owner/name#12, its URL, or, if one
repository is configured, 12 (a shell takes #12 for a comment).`,
		Example: `  $ gh mergexo show octo/repo#12
  $ gh mergexo show 12 --web
  $ gh mergexo show 12 --graph
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
	})
	c.Flags().BoolVar(&s.graph, "graph", false, "Draw the merged roadmap")
	c.Flags().BoolVarP(&s.web, "web", "w", false, "Open its pull request, else its issue, in the browser")
	c.Flags().StringVar(&s.turn, "turn", "", "Show the turn with this `key`, or the \"last\"")
	c.Flags().BoolVar(&s.prompt, "prompt", false, "Print the prompt of the turn's agent")
	c.Flags().BoolVar(&s.log, "log", false, "Print the log lines of the turn")
	c.Flags().BoolVar(&s.diff, "diff", false, "Print the diff of the turn")
	c.Flags().BoolVar(&s.whole, "transcript", false, "Print what the turn's agent was told, did and answered")
	return c
}

// check rejects flags that exclude each other: each selects a different output.
func (s *showCmd) check() error {
	asked := 0
	for _, is := range []bool{s.graph, s.web, s.prompt, s.log, s.diff, s.whole, s.JSON.Asked()} {
		if is {
			asked++
		}
	}
	switch {
	case asked > 1:
		return &cli.UsageError{Err: errors.New("--graph, --web, --prompt, --log, --diff, --transcript and --json cannot be combined")}
	case s.turn != "" && (s.graph || s.web || s.JSON.Asked()):
		return &cli.UsageError{Err: errors.New("--turn can be combined only with --prompt, --log, --diff or --transcript")}
	}
	return nil
}

func (s *showCmd) run(ctx context.Context, name string) error {
	cfg, which, err := s.Item(name)
	if err != nil {
		return err
	}
	story, found, _, err := ReadItem(ctx, s.App, cfg, which)
	if err != nil {
		return err
	}
	if !found {
		return UnknownItem(story, which.Called(cfg))
	}
	if story.Item.agent.Name != "" {
		st, _ := schedule.Look(ctx, s.App, cfg) // doctor and schedule status report its problems
		story.Item.lack(st, s.Environ())
	}
	out := s.Output()
	switch {
	case s.JSON.Asked():
		return s.JSON.Write(out, story)
	case s.web:
		return s.browse(story)
	case s.turn != "" || s.prompt || s.log || s.diff || s.whole:
		return s.oneTurn(ctx, cfg, story)
	}
	if story.Halt != nil {
		s.PrintHalt(story.Halt)
	}
	if s.graph {
		return s.printGraph(cfg, which, story)
	}
	return story.Print(out)
}

// UnknownItem is the error for an unknown item. If its repository could not be read, the error
// names that as the cause.
func UnknownItem(story Story, called string) error {
	if why := story.Unread; why != "" {
		return cli.Coded(cli.CodeUnknownItem, fmt.Errorf("there is no data about %s: its repository could not be read: %s", called, terminal.OneLine(why)))
	}
	if story.near != "" {
		return cli.Coded(cli.CodeUnknownItem, errors.New(story.near))
	}
	read := ""
	if at := story.Repo.HeartbeatAt; !at.IsZero() {
		read = fmt.Sprintf(" (the last one did at %s; to run one: gh mergexo tick)", work.UTC(at))
	}
	return cli.Coded(cli.CodeUnknownItem, fmt.Errorf("no work item is %s: a label on an issue begins one, once a pass has read it%s; to list those that exist: gh mergexo status --all", called, read))
}

// browse opens the item in the browser.
func (s *showCmd) browse(story Story) error {
	url := story.Item.address()
	if url == "" {
		return errors.New("no pass has stored its address on GitHub yet; run one: gh mergexo tick")
	}
	if terminal.Watched(s.Env.BareErr) {
		fmt.Fprintf(s.Env.Stderr, "Opening %s in your browser.\n", url)
	}
	s.Environ().Forget()
	return terminal.Browse(url, s.Env.Bare, s.Env.BareErr)
}

// ReadItem loads an item. seen is false if there is no database yet.
func ReadItem(ctx context.Context, a *cli.App, cfg *config.Config, which cli.Ref) (s Story, found, seen bool, err error) {
	halt, err := cli.Halted(cfg)
	if err != nil {
		return s, false, false, err
	}
	q := Query{Config: cfg, Repos: []work.RepoName{which.Repo}, All: true, Now: a.Now(), Halt: halt, Machine: cli.ThisMachine(cfg)}
	seen, err = machine.View(ctx, cfg, func(tx *store.Tx) error {
		s, found, err = loadStory(ctx, tx, q, which.Number)
		return err
	})
	return s, found, seen, err
}
