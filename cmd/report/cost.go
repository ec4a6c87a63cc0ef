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
	"github.com/mergexo/gh-mergexo/cmd/status"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
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
whole days in UTC. The sums stay when details are deleted.

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

	by    string
	since time.Time
}

// costLine is one line of usage.
type costLine struct {
	Day     string `json:"day,omitempty"` // by this machine's clock
	Repo    string `json:"repo,omitempty"`
	Number  int    `json:"number,omitempty"`
	Title   string `json:"title,omitempty"`
	Pull    int    `json:"pullRequest,omitempty"` // its number
	Agent   string `json:"agent,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Machine string `json:"machine,omitempty"`
	Runs    int    `json:"runs"`
	Turns   int    `json:"turns"`
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
	all, out := costsOf(cfg, opt.by, from, lines), a.Output()
	switch {
	case a.JSON.Asked():
		return a.JSON.Write(out, all)
	case !seen:
		_, err = fmt.Fprintln(a.Env.Stderr, cli.ErrNothingYet)
		return err
	}
	return all.print(out, a.Notes(out))
}

// costsOf joins lines that differ only in their repository, unless grouped by repository or item, and
// items of an issue that would look alike: those without a pull request. It sorts by cost; days keep their
// order.
func costsOf(cfg *config.Config, by string, since time.Time, lines []store.CostLine) costs {
	c, at := costs{by: by, Lines: []costLine{}, since: since}, map[store.TotalKey]int{}
	for _, l := range lines {
		if by != string(store.ByRepo) && by != string(store.ByItem) {
			l.RepoID, l.Repo = 0, work.RepoName{}
		}
		l.ItemID = 0
		i, known := at[l.TotalKey]
		if !known {
			i, at[l.TotalKey] = len(c.Lines), len(c.Lines)
			c.Lines = append(c.Lines, lineOf(cfg, by, l))
		}
		c.Lines[i].add(l)
		c.Total.add(l)
	}
	slices.SortStableFunc(c.Lines, func(a, b costLine) int {
		if by == string(store.ByDay) {
			return cmp.Compare(a.Day, b.Day)
		}
		return cmp.Or(cmp.Compare(b.used.CostUSD, a.used.CostUSD), cmp.Compare(b.used.OutputTokens, a.used.OutputTokens), cmp.Compare(a.name, b.name))
	})
	return c
}

// lineOf returns a line without usage.
func lineOf(cfg *config.Config, by string, l store.CostLine) costLine {
	v := costLine{Day: l.Day, Number: l.Number, Title: l.Title, Pull: l.Pull, Agent: l.Agent, Kind: l.Kind, Machine: l.Machine}
	if l.RepoID != 0 {
		v.Repo = cfg.Called(l.Repo)
	}
	switch store.By(by) {
	case store.ByRepo:
		v.name = v.Repo
	case store.ByItem:
		v.name = cli.Ref{Repo: l.Repo, Number: l.Number}.Called(cfg)
	case store.ByAgent:
		v.name = l.Agent
	case store.ByKind:
		v.name = l.Kind
	case store.ByMachine:
		v.name = cmp.Or(l.Machine, "not known")
	default:
		v.name = l.Day
	}
	return v
}

func (v *costLine) add(l store.CostLine) {
	v.Runs += l.Runs
	v.Turns += l.Turns
	v.used = v.used.Join(l.UsageSum)
	v.Usage = status.UsageOf(v.used)
}

var headings = map[string]string{"day": "DAY", "repo": "REPOSITORY", "agent": "AGENT", "item": "ITEM", "kind": "KIND", "machine": "MACHINE"}

func (c costs) print(out terminal.Output, notes io.Writer) error {
	if len(c.Lines) == 0 {
		_, err := fmt.Fprintln(notes, "no agent ran "+sinceSays(c.since))
		return err
	}
	row := rowOf(out.TTY)
	rows := terminal.Each(c.Lines, func(l costLine) []string { return row(l.name, l) })
	if out.TTY && len(rows) > 1 {
		rows = append(rows, row("total", c.Total))
	}
	head := []string{headings[c.by], "RUNS", "TURNS", "INPUT", "OUTPUT", "COST", "TITLE"}
	if c.by == string(store.ByItem) {
		head = append(head, "PR")
		for i := range rows {
			rows[i] = append(rows[i], "")
		}
		for i, l := range c.Lines {
			rows[i][len(head)-2] = l.Title
			if l.Pull != 0 {
				rows[i][len(head)-1] = fmt.Sprintf("#%d", l.Pull)
			}
		}
	}
	if err := out.Table(head, rows); err != nil {
		return err
	}
	said := says(c.Total, c.since)
	if out.TTY { // the sum is a row of the table
		said = sinceSays(c.since)
	}
	_, err := fmt.Fprintln(notes, said)
	return errors.Join(err, unknownSays(out, notes, c.Total))
}

// rowOf formats rows for people, or for programs.
func rowOf(people bool) func(name string, l costLine) []string {
	count := func(n int64) string {
		if people {
			return grouped(n)
		}
		return strconv.FormatInt(n, 10)
	}
	return func(name string, l costLine) []string {
		u := l.used
		return []string{
			name, strconv.Itoa(l.Runs), strconv.Itoa(l.Turns),
			work.AtLeast(u.InputTokens, u.UnknownTokens, "tokens", count), work.AtLeast(u.OutputTokens, u.UnknownTokens, "tokens", count),
			spending.Cost(u.CostUSD, u.UnknownCost), "",
		}
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
func says(sum costLine, from time.Time) string {
	u := sum.used
	tokens := work.AtLeast(work.SumCounts(u.InputTokens, u.OutputTokens), u.UnknownTokens, "tokens", func(int64) string {
		return fmt.Sprintf("%s tokens in and %s out", grouped(u.InputTokens), grouped(u.OutputTokens))
	})
	return fmt.Sprintf("%s: %s in %s, %s, %s",
		sinceSays(from), work.Count(sum.Runs, "run"), work.Count(sum.Turns, "turn"), tokens, spending.Cost(u.CostUSD, u.UnknownCost))
}

// unknownSays reports how many runs have unknown tokens or cost.
func unknownSays(out terminal.Output, notes io.Writer, sum costLine) error {
	var parts []string
	if n := sum.used.UnknownTokens; n > 0 {
		parts = append(parts, "the tokens of "+work.Count(n, "run"))
	}
	if n := sum.used.UnknownCost; n > 0 {
		parts = append(parts, "the cost of "+work.Count(n, "run"))
	}
	if len(parts) == 0 {
		return nil
	}
	said := "unknown and in no sum: " + strings.Join(parts, ", ")
	if out.TTY {
		said = strings.Join(terminal.Wrap(said, out.Width), "\n")
	}
	_, err := fmt.Fprintln(notes, said)
	return err
}
