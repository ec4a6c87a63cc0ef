package notify

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
)

// mostListed is how many messages are shown unless another number is asked for.
const mostListed = 30

func newListCmd(a *cli.App) *cobra.Command {
	var flags *terminal.JSON
	limit := mostListed
	c := &cobra.Command{
		Use:   "list",
		Short: "List the last messages, and what became of each",
		Long: `List the last messages, newest first, and what became of each: planned (a pass sends
it), sent (it is being sent), done, failed (it was not taken), unclear (the pass that
sent it ended before an answer came), dropped (it was never sent). No message is sent
twice. Messages are kept for 30 days, and those about open work longer.`,
		Example: `  $ gh mergexo notify list
  $ gh mergexo notify list --json messages --jq '.messages[].state'`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return list(c.Context(), a, limit, flags) },
	}
	flags = cli.AddJSONFlags(c, listView{})
	c.Flags().IntVarP(&limit, "limit", "L", mostListed, "List at most `n` messages")
	return c
}

// listView is what notify list prints.
type listView struct {
	Messages []message `json:"messages"` // what was told, or is to be told, the newest first
}

// message is a message as programs see it.
type message struct {
	Target     string     `json:"target"`     // the `name` of the `[[notify]]`
	Event      news.What  `json:"event"`      // what it tells, as `on` in the config names it
	Repository string     `json:"repository"` // the repository that it is about; empty: none
	Number     int        `json:"number"`     // the issue or pull request that it is about; 0: none
	At         time.Time  `json:"at"`         // when
	State      news.State `json:"state"`      // `planned`, `sent`, `done`, `failed`, `unclear` (the pass that sent it died), `dropped` (never sent)
	SentAt     *time.Time `json:"sentAt"`     // when it was sent; null: not yet
	LastError  string     `json:"lastError"`  // why it did not arrive; empty: nothing is known against it
	Body       string     `json:"body"`       // what was, or will be, sent: JSON as text
}

func list(ctx context.Context, a *cli.App, limit int, flags *terminal.JSON) error {
	if limit < 1 {
		return &cli.UsageError{Err: fmt.Errorf("--limit %d: want 1 or more", limit)}
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	var all []message
	found, err := machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) (err error) {
		all, err = read(ctx, tx, limit)
		return err
	})
	if err != nil {
		return err
	}
	if !found {
		return cli.ErrNothingYet
	}
	out := a.Output()
	if flags.Asked() {
		return flags.Write(out, listView{terminal.OrEmpty(all)})
	}
	if len(all) == 0 && out.TTY {
		_, err := fmt.Fprintln(out.W, "no message yet")
		return err
	}
	now := a.Now()
	return out.Table([]string{"WHEN", "TARGET", "EVENT", "ABOUT", "STATE", "WHY"}, terminal.Each(all, func(m message) []string {
		about := m.Repository
		if m.Number != 0 {
			about += "#" + strconv.Itoa(m.Number)
		}
		return []string{out.When(m.At, now), m.Target, string(m.Event), about, string(m.State), m.LastError}
	}))
}

func read(ctx context.Context, tx *store.Tx, limit int) ([]message, error) {
	entries, err := tx.ListNews(ctx, limit)
	if err != nil {
		return nil, err
	}
	repos, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	names := map[int64]work.Repo{}
	for _, r := range repos {
		names[r.ID] = r
	}
	return terminal.Each(entries, func(e news.Entry) message {
		m := message{Target: e.Target, Event: e.What, Number: e.Number, At: e.At, State: e.State, LastError: e.LastError, Body: e.Body}
		if r, ok := names[e.RepoID]; ok {
			m.Repository = r.Name.FullName()
		}
		if !e.SentAt.IsZero() {
			m.SentAt = &e.SentAt
		}
		return m
	}), nil
}
