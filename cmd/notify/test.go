package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/notify"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

func newTestCmd(a *cli.App) *cobra.Command {
	var flags *terminal.JSON
	c := &cobra.Command{
		Use:   "test [<name>]",
		Short: "Send a test message, and show what came back",
		Long: `Send a test message to every [[notify]] of the config, or to the one that is named,
and show what came back. It needs no pass and is noted nowhere. The exit code is 1
where a message did not arrive.`,
		Example: `  $ gh mergexo notify test
  $ gh mergexo notify test chat
  $ gh mergexo notify test --json results --jq '.results[].says'`,
		Args: cli.Args(cli.Words(0, 1)),
		RunE: func(c *cobra.Command, given []string) error { return test(c.Context(), a, given, flags) },
	}
	flags = cli.AddJSONFlags(c, testView{})
	return c
}

// testView is what notify test prints.
type testView struct {
	Results []result `json:"results"` // what became of the message to each
}

// result is what came back of one message.
type result struct {
	Name    string `json:"name"`    // the `name` of the `[[notify]]`
	Arrived bool   `json:"arrived"` // whether it was taken
	Says    string `json:"says"`    // the answer, for people
	Message string `json:"message"` // that was sent
}

func test(ctx context.Context, a *cli.App, given []string, flags *terminal.JSON) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	wanted, err := choose(cfg, given)
	if err != nil {
		return err
	}
	m, err := a.Machine(cfg)
	if err != nil {
		return err
	}
	results := sendAll(ctx, a, m, wanted)
	out := a.Output()
	if flags.Asked() {
		err = flags.Write(out, testView{results})
	} else {
		err = out.List([]string{"NAME", "ARRIVED", "SAYS"}, terminal.Each(results, func(r result) []string {
			return []string{r.Name, map[bool]string{true: "yes", false: "no"}[r.Arrived], r.Says}
		}))
	}
	if slices.ContainsFunc(results, func(r result) bool { return !r.Arrived }) {
		return errors.Join(err, &cli.CodeError{Code: 1})
	}
	return err
}

// choose finds the [[notify]] that are meant.
func choose(cfg *config.Config, given []string) ([]config.Notify, error) {
	names := terminal.Each(cfg.Notify, func(n config.Notify) string { return n.Name })
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no [[notify]]: nobody is told; gh mergexo config --example shows how", cfg.Path)
	case len(given) == 0:
		return cfg.Notify, nil
	}
	if i := slices.Index(names, given[0]); i >= 0 {
		return cfg.Notify[i : i+1], nil
	}
	err := fmt.Errorf("%s has no [[notify]] named %q; there are: %s", cfg.Path, given[0], work.JoinNames(names))
	return nil, &cli.UsageError{Err: cli.DidYouMean(err, given[0], names, "")}
}

// sendAll sends to all at once: each may take as long as its timeout says.
func sendAll(ctx context.Context, a *cli.App, m *machine.Machine, wanted []config.Notify) []result {
	results := make([]result, len(wanted))
	var wg sync.WaitGroup
	for i, n := range wanted {
		wg.Go(func() {
			at := a.Now()
			message := news.Trial(n.Name, at)
			answer := m.Tell(ctx, n.Name, notify.Message{ID: message.ID, Event: string(message.Event), Body: message.JSON(), At: at})
			results[i] = result{n.Name, answer.Fate == notify.Taken, answer.Says, message.JSON()}
		})
	}
	wg.Wait()
	return results
}
