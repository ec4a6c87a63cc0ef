package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// bys are the values of --by.
var bys = []string{string(store.ByDay), string(store.ByRepo), string(store.ByAgent), string(store.ByItem), string(store.ByKind)}

type costOptions struct {
	by    string
	since string
	repo  string
	json  *terminal.JSON
}

func NewCostCmd(a *cli.App) *cobra.Command {
	opt := &costOptions{}
	c := &cobra.Command{
		Use:   "cost",
		Short: "Show what agents used and cost",
		Long: `Show what agents used: their runs (RUNS), the turns that these began (TURNS, as
budgets count them), tokens, and the cost in US dollars, if it is known. Days are
whole days in UTC. The sums stay when details are deleted.

It reads the state database and does not ask GitHub.`,
		Example: `  $ gh mergexo cost
  $ gh mergexo cost --by item --since 7d
  $ gh mergexo cost --by agent --since all --json total --jq .total.costUSD`,
		Args: cli.Args(cli.Words(0, 0)),
		RunE: func(c *cobra.Command, _ []string) error { return cost(c.Context(), a, opt) },
	}
	opt.json = cli.AddJSONFlags(c, costsView{})
	c.Flags().StringVar(&opt.by, "by", bys[0], "Sum by `key`: day, repo, agent, item or kind (of turn)")
	c.Flags().StringVar(&opt.since, "since", "30d", "Start at this `day`: 30d, 4w, 2026-01-31 or all")
	c.Flags().StringVarP(&opt.repo, "repo", "R", "", "Only this `repository` of the config")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(bys, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// costs are the agents' usage, grouped.
type costs struct {
	by    string
	since time.Time
	lines []store.CostLine
	cfg   *config.Config
}

func cost(ctx context.Context, a *cli.App, opt *costOptions) error {
	if !slices.Contains(bys, opt.by) {
		return &cli.UsageError{Err: fmt.Errorf("--by takes day, repo, agent, item or kind, not %q", opt.by)}
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
	all := costs{by: opt.by, since: from, cfg: cfg}
	seen, err := machine.View(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		all.lines, err = tx.Costs(ctx, from, store.By(opt.by), store.ByRepo)
		return err
	})
	if err != nil {
		return err
	}
	if opt.repo != "" {
		all.lines = slices.DeleteFunc(all.lines, func(l store.CostLine) bool { return !slices.Contains(wanted, l.Repo) })
	}
	all.fold()
	out := a.Output()
	switch {
	case opt.json.Asked():
		return opt.json.Write(out, all.view())
	case !seen:
		_, err = fmt.Fprintln(a.Env.Stderr, nothingYet)
		return err
	}
	return all.print(out, a.Notes(out))
}

const nothingYet = "no pass has run yet; run one: gh mergexo tick"

// fold joins lines that differ only in their repository, unless grouped by repository or item, and
// sorts by cost; days keep their order.
func (c *costs) fold() {
	var lines []store.CostLine
	at := map[store.TotalKey]int{}
	for _, l := range c.lines {
		if c.by != string(store.ByRepo) && c.by != string(store.ByItem) {
			l.RepoID, l.Repo = 0, work.RepoName{}
		}
		i, known := at[l.TotalKey]
		if !known {
			i, at[l.TotalKey] = len(lines), len(lines)
			lines = append(lines, store.CostLine{TotalKey: l.TotalKey})
		}
		add(&lines[i], l)
	}
	slices.SortStableFunc(lines, func(a, b store.CostLine) int {
		if c.by == string(store.ByDay) {
			return cmp.Compare(a.Day, b.Day)
		}
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.OutputTokens, a.OutputTokens), cmp.Compare(c.name(a), c.name(b)))
	})
	c.lines = lines
}

func add(to *store.CostLine, l store.CostLine) {
	to.Runs += l.Runs
	to.Turns += l.Turns
	to.Unknown += l.Unknown
	to.InputTokens = work.SumCounts(to.InputTokens, l.InputTokens)
	to.OutputTokens = work.SumCounts(to.OutputTokens, l.OutputTokens)
	to.CostUSD += l.CostUSD
}

func (c *costs) total() (sum store.CostLine) {
	for _, l := range c.lines {
		add(&sum, l)
	}
	return sum
}

// name returns what a line is about.
func (c *costs) name(l store.CostLine) string {
	switch store.By(c.by) { //nolint:exhaustive // those of bys
	case store.ByRepo:
		return c.cfg.Called(l.Repo)
	case store.ByItem:
		return cli.Ref{Repo: l.Repo, Number: l.Number}.Called(c.cfg)
	case store.ByAgent:
		return l.Agent
	case store.ByKind:
		return l.Kind
	}
	return l.Day
}

var headings = map[string]string{"day": "DAY", "repo": "REPOSITORY", "agent": "AGENT", "item": "ITEM", "kind": "KIND"}

func (c *costs) print(out terminal.Output, notes io.Writer) error {
	if len(c.lines) == 0 {
		_, err := fmt.Fprintln(notes, "no agent ran "+sinceSays(c.since))
		return err
	}
	row := rowOf(out.TTY)
	rows := terminal.Each(c.lines, func(l store.CostLine) []string { return row(c.name(l), l) })
	sum := c.total()
	if out.TTY && len(rows) > 1 {
		rows = append(rows, row("total", sum))
	}
	if c.by == string(store.ByItem) {
		for i, l := range c.lines {
			rows[i][len(rows[i])-1] = l.Title
		}
	}
	if err := out.Table([]string{headings[c.by], "RUNS", "TURNS", "INPUT", "OUTPUT", "USD", "UNKNOWN", "TITLE"}, rows); err != nil {
		return err
	}
	said := says(sum, c.since)
	if out.TTY { // the sum is a row of the table
		said = sinceSays(c.since)
	}
	_, err := fmt.Fprintln(notes, said)
	return errors.Join(err, unknownSays(out, notes, sum))
}

// rowOf formats rows for people, or for programs.
func rowOf(people bool) func(name string, l store.CostLine) []string {
	count := func(n int64) string {
		if people {
			return grouped(n)
		}
		return strconv.FormatInt(n, 10)
	}
	return func(name string, l store.CostLine) []string {
		unknown := ""
		if l.Unknown > 0 || !people {
			unknown = strconv.Itoa(l.Unknown)
		}
		return []string{name, strconv.Itoa(l.Runs), strconv.Itoa(l.Turns), count(l.InputTokens), count(l.OutputTokens), fmt.Sprintf("%.2f", l.CostUSD), unknown, ""}
	}
}

// grouped formats a number with thousands separators.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// says is the sum in one line.
func says(sum store.CostLine, from time.Time) string {
	return fmt.Sprintf("%s: %s in %s, %s tokens in and %s out, %.2f USD",
		sinceSays(from), several(sum.Runs, "run"), several(sum.Turns, "turn"), grouped(sum.InputTokens), grouped(sum.OutputTokens), sum.CostUSD)
}

// unknownSays reports runs whose final usage is unknown.
func unknownSays(out terminal.Output, notes io.Writer, sum store.CostLine) error {
	if sum.Unknown == 0 {
		return nil
	}
	said := fmt.Sprintf("the usage of %s is UNKNOWN: the total is a lower bound", several(sum.Unknown, "run"))
	if out.TTY {
		said = strings.Join(terminal.Wrap(said, out.Width), "\n")
	}
	_, err := fmt.Fprintln(notes, said)
	return err
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
