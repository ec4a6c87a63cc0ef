package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store"
)

// newNotifyCmd makes the command notify: send a test message, list sent ones.
func newNotifyCmd(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "notify <command>",
		Short: "Test notifications outside of GitHub, and list the last ones",
		Long: `Test notifications outside of GitHub, and list the last ones.

A [[notify]] in the config names a program that gets messages about questions, blocked
work, pull requests, merges, spent budgets and failing passes.
A pass sends each message at most once.`,
		Args: cli.Args(cli.Words(0, 0)),
	}
	c.AddCommand(newNotifyTestCmd(a), newNotifyListCmd(a))
	return c
}

func newNotifyTestCmd(a *cli.App) *cobra.Command {
	return a.WithJSON(trialsView{}, &cobra.Command{
		Use:   "test [<name>]",
		Short: "Send a test message, and show the response",
		Long: `Send a test message to every [[notify]] in the config, or to the one that you name,
and show the response. It needs no pass and is not recorded. The exit code is 1 if a
message did not arrive.`,
		Example: `  $ gh mergexo notify test
  $ gh mergexo notify test chat
  $ gh mergexo notify test --json results --jq '.results[].says'`,
		Args: cli.Args(cli.Words(0, 1)),
		RunE: func(c *cobra.Command, given []string) error { return sendTrials(c.Context(), a, given) },
	})
}

// trialsView is the output of notify test.
type trialsView struct {
	Results []trialView `json:"results"` // the result of each message
}

// trialView is the result of one message.
type trialView struct {
	Name    string `json:"name"`    // the `name` of the `[[notify]]`
	Arrived bool   `json:"arrived"` // whether the target accepted it
	Says    string `json:"says"`    // the answer, for people
	Message string `json:"message"` // the message that was sent
}

func sendTrials(ctx context.Context, a *cli.App, given []string) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	wanted, err := chooseTargets(cfg, given)
	if err != nil {
		return err
	}
	m, err := a.Machine(cfg)
	if err != nil {
		return err
	}
	results := sendAll(ctx, a, m, wanted)
	out := a.Output()
	if a.JSON.Asked() {
		err = a.JSON.Write(out, trialsView{results})
	} else {
		err = out.List([]string{"NAME", "ARRIVED", "SAYS"}, terminal.Each(results, func(r trialView) []string {
			return []string{r.Name, map[bool]string{true: "yes", false: "no"}[r.Arrived], r.Says}
		}))
	}
	if slices.ContainsFunc(results, func(r trialView) bool { return !r.Arrived }) {
		return errors.Join(err, &cli.CodeError{Code: 1})
	}
	return err
}

// chooseTargets finds the named [[notify]] entries.
func chooseTargets(cfg *config.Config, given []string) ([]config.Notify, error) {
	names := terminal.Each(cfg.Notify, func(n config.Notify) string { return n.Name })
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no [[notify]]; gh mergexo config --example shows one", cfg.Path)
	case len(given) == 0:
		return cfg.Notify, nil
	}
	if i := slices.Index(names, given[0]); i >= 0 {
		return cfg.Notify[i : i+1], nil
	}
	err := fmt.Errorf("%s has no [[notify]] named %q; there are: %s", cfg.Path, given[0], work.JoinNames(names))
	return nil, &cli.UsageError{Err: cli.DidYouMean(err, given[0], names, "")}
}

// sendAll sends to all in parallel.
func sendAll(ctx context.Context, a *cli.App, m *machine.Machine, wanted []config.Notify) []trialView {
	results := make([]trialView, len(wanted))
	var wg sync.WaitGroup
	for i, n := range wanted {
		wg.Go(func() {
			at := a.Now()
			message := news.Trial(n.Name, at)
			answer := m.Notify(ctx, n.Name, notify.Message{ID: message.ID, Event: string(message.Event), Body: message.JSON(), At: at})
			results[i] = trialView{n.Name, answer.Fate == notify.Taken, answer.Says, message.JSON()}
		})
	}
	wg.Wait()
	return results
}

// mostMessages is the default number of messages shown.
const mostMessages = 30

func newNotifyListCmd(a *cli.App) *cobra.Command {
	limit := mostMessages
	c := a.WithJSON(messagesView{}, &cobra.Command{
		Use:   "list",
		Short: "List the last messages with their state",
		Long: `List the last messages, newest first, with their state: planned (the next pass sends
it), sent (it is being sent), done, failed (the target did not accept it), unclear
(the pass died while sending it), dropped (it was never sent). No message is sent
twice. Messages are kept for 30 days; those about open work are kept longer.`,
		Example: `  $ gh mergexo notify list
  $ gh mergexo notify list --json messages --jq '.messages[].state'`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return listMessages(c.Context(), a, limit) },
	})
	c.Flags().IntVarP(&limit, "limit", "L", mostMessages, "List at most `n` messages")
	return c
}

// messagesView is the output of notify list.
type messagesView struct {
	Messages []messageView `json:"messages"` // sent and planned messages, newest first
}

// messageView is a message as JSON.
type messageView struct {
	Target     string     `json:"target"`     // the `name` of the `[[notify]]`
	Event      news.Kind  `json:"event"`      // its kind
	Repository string     `json:"repository"` // the repository that it is about; empty: none
	Number     int        `json:"number"`     // the issue or pull request that it is about; 0: none
	At         time.Time  `json:"at"`         // time of the event
	State      news.State `json:"state"`      // `planned`, `sent`, `done`, `failed`, `unclear` (the pass that sent it died), `dropped` (never sent)
	SentAt     *time.Time `json:"sentAt"`     // when it was sent; null: not yet
	LastError  string     `json:"lastError"`  // why it did not arrive; empty: no error
	Body       string     `json:"body"`       // what was, or will be, sent: JSON as text
}

func listMessages(ctx context.Context, a *cli.App, limit int) error {
	if limit < 1 {
		return &cli.UsageError{Err: fmt.Errorf("--limit %d: want 1 or more", limit)}
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	var all []messageView
	found, err := machine.View(ctx, cfg, func(tx *store.Tx) (err error) {
		all, err = readMessages(ctx, tx, limit)
		return err
	})
	if err != nil {
		return err
	}
	if !found {
		return cli.ErrNothingYet
	}
	out := a.Output()
	if a.JSON.Asked() {
		return a.JSON.Write(out, messagesView{terminal.OrEmpty(all)})
	}
	if len(all) == 0 && out.TTY {
		_, err := fmt.Fprintln(out.W, "no message yet")
		return err
	}
	now := a.Now()
	return out.Table([]string{"WHEN", "TARGET", "EVENT", "ABOUT", "STATE", "WHY"}, terminal.Each(all, func(m messageView) []string {
		about := m.Repository
		if m.Number != 0 {
			about += "#" + strconv.Itoa(m.Number)
		}
		return []string{out.When(m.At, now), m.Target, string(m.Event), about, string(m.State), m.LastError}
	}))
}

func readMessages(ctx context.Context, tx *store.Tx, limit int) ([]messageView, error) {
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
	return terminal.Each(entries, func(e news.Entry) messageView {
		m := messageView{Target: e.Target, Event: e.What, Number: e.Number, At: e.At, State: e.State, LastError: e.LastError, Body: e.Body}
		if r, ok := names[e.RepoID]; ok {
			m.Repository = r.Name.FullName()
		}
		if !e.SentAt.IsZero() {
			m.SentAt = &e.SentAt
		}
		return m
	}), nil
}
