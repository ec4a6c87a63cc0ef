package report

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/store"
)

// bys are the values of --by.
var bys = []string{string(store.ByDay), string(store.ByRepo), string(store.ByAgent), string(store.ByItem), string(store.ByKind), string(store.ByMachine)}

type costOptions struct {
	by    string
	since string
	repo  string
}

func newCostCmd(a *cli.App) *cobra.Command {
	opt := &costOptions{}
	c := a.WithJSON(costs{}, &cobra.Command{
		Use:   "cost",
		Short: "Show what agents used and cost",
		Long: `Show what agents used: their runs (RUNS), the turns that these began (TURNS, as
budgets count them), tokens, and the cost in US dollars, if it is known. Days are
whole days in UTC. The sums stay when details are deleted. By item, an issue has a line
for each of its pull requests, and one for what came to none.

It reads the state database and does not ask GitHub.`,
		Example: `  $ gh mergexo report cost
  $ gh mergexo report cost --by item --since 7d
  $ gh mergexo report cost --since all --json total --jq .total.costUSD`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return cost(c.Context(), a, opt) },
	})
	c.Flags().StringVar(&opt.by, "by", bys[0], "Sum by `key`: day, repo, agent, item, kind (of turn) or machine")
	c.Flags().StringVar(&opt.since, "since", "30d", "Start at this `day`: 30d, 4w, 2026-01-31 or all")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository` of the config")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(bys, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// costs are the agents' usage, grouped. They are the output of report cost.
type costs struct {
	Lines []costLine `json:"lines"` // one for each day, repository and so on of --by
	Total costLine   `json:"total"`
}

// costKey is what a line is about.
type costKey struct {
	Day     string `json:"day,omitempty"` // by this machine's clock
	Repo    string `json:"repo,omitempty"`
	Number  int    `json:"number,omitempty"`
	Pull    int    `json:"pullRequest,omitempty"` // its number
	Agent   string `json:"agent,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Machine string `json:"machine,omitempty"`
}

// costLine is one line of usage.
type costLine struct {
	costKey
	Title string `json:"title,omitempty"`
	Runs  int    `json:"runs"`
	Turns int    `json:"turns"`
	status.Usage

	name string // what it is about
	used work.UsageSum
}

func cost(ctx context.Context, a *cli.App, opt *costOptions) error {
	if !slices.Contains(bys, opt.by) {
		return &cli.UsageError{Err: fmt.Errorf("--by takes day, repo, agent, item, kind or machine, not %q", opt.by)}
	}
	from, err := since(opt.since, a.Now())
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	wanted, err := cli.Repos(cfg, opt.repo)
	if err != nil {
		return err
	}
	var lines []store.CostLine
	seen, err := machine.View(ctx, cfg, func(tx *store.Tx) error {
		lines, err = tx.Costs(ctx, from, store.By(opt.by), store.ByRepo)
		return err
	})
	if err != nil {
		return err
	}
	if opt.repo != "" {
		lines = slices.DeleteFunc(lines, func(l store.CostLine) bool { return !slices.Contains(wanted, l.Repo) })
	}
	all, out := costsOf(cfg, opt.by, lines), a.Output()
	switch {
	case a.JSON.Asked():
		return a.JSON.Write(out, all)
	case !seen:
		_, err = fmt.Fprintln(a.Env.Stderr, cli.ErrNothingYet)
		return err
	}
	return all.print(out, a.Notes(out), opt.by, from)
}

// costsOf joins lines that look alike: those that differ only in their repository, unless repositories
// are told, and items of an issue without a pull request. It sorts by cost; days keep their order.
func costsOf(cfg *config.Config, by string, lines []store.CostLine) costs {
	c, at := costs{Lines: []costLine{}}, map[costKey]int{}
	for _, l := range lines {
		key := costKey{Day: l.Day, Number: l.Number, Pull: l.Pull, Agent: l.Agent, Kind: l.Kind, Machine: l.Machine}
		name := cmp.Or(l.Day, l.Agent, l.Kind, l.Machine)
		switch store.By(by) {
		case store.ByRepo:
			key.Repo = cfg.Called(l.Repo)
			name = key.Repo
		case store.ByItem:
			key.Repo = cfg.Called(l.Repo)
			name = cli.Ref{Repo: l.Repo, Number: l.Number}.Called(cfg)
		case store.ByMachine:
			name = cmp.Or(l.Machine, "not known")
		case store.ByDay, store.ByAgent, store.ByKind, store.ByReviewer, store.ByOutcome:
		}
		i, known := at[key]
		if !known {
			i, at[key] = len(c.Lines), len(c.Lines)
			c.Lines = append(c.Lines, costLine{costKey: key, name: name})
		}
		c.Lines[i].Title = l.Title
		c.Lines[i].add(l)
		c.Total.add(l)
	}
	sorted.By(c.Lines, func(a, b costLine) int {
		if by == string(store.ByDay) {
			return cmp.Compare(a.Day, b.Day)
		}
		return cmp.Or(cmp.Compare(b.used.CostUSD, a.used.CostUSD), cmp.Compare(b.used.OutputTokens, a.used.OutputTokens), cmp.Compare(a.name, b.name))
	})
	return c
}

func (v *costLine) add(l store.CostLine) {
	v.Runs += l.Runs
	v.Turns += l.Turns
	v.used = v.used.Join(l.UsageSum)
	v.Usage = status.UsageOf(v.used)
}

var headings = map[string]string{"day": "DAY", "repo": "REPOSITORY", "agent": "AGENT", "item": "ITEM", "kind": "KIND", "machine": "MACHINE"}

func (c costs) print(out terminal.Output, notes io.Writer, by string, from time.Time) error {
	if len(c.Lines) == 0 {
		_, err := fmt.Fprintln(notes, "no agent ran "+sinceSays(from))
		return err
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	if out.TTY {
		count = terminal.Tokens
	}
	row := func(name string, l costLine) []string {
		pull := ""
		if l.Pull != 0 {
			pull = fmt.Sprintf("#%d", l.Pull)
		}
		cells := []string{
			name, strconv.Itoa(l.Runs), strconv.Itoa(l.Turns),
			l.Tokens(l.InputTokens, count), l.Tokens(l.OutputTokens, count), l.Says(), l.Title, pull,
		}
		if by != string(store.ByItem) { // programs count the columns
			cells = cells[:len(cells)-1]
		}
		return cells
	}
	rows := terminal.Each(c.Lines, func(l costLine) []string { return row(l.name, l) })
	if out.TTY && len(rows) > 1 {
		rows = append(rows, row("total", c.Total))
	}
	head := []string{headings[by], "RUNS", "TURNS", "INPUT", "OUTPUT", "COST", "TITLE", "PR"}
	if err := out.Table(head[:len(rows[0])], rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(notes, sinceSays(from))
	return err
}
