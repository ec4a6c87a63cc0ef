package status

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Print prints the items on out. What is wrong with a repository, and what else is
// to know, is printed on notes: below the items on a terminal, on standard error
// when the output is read by a program.
func (b Board) Print(out terminal.Output, notes io.Writer) error {
	b.printStopped(out, notes)
	table := printRows
	if out.TTY {
		table = printStandings
	}
	if err := table(out, b); err != nil {
		return err
	}
	for _, host := range slices.Sorted(maps.Keys(b.clocks)) {
		if why := env.ClockTrouble(host, b.clocks[host]); why != "" {
			fmt.Fprintln(notes, why)
		}
	}
	for _, line := range b.repoLines() {
		fmt.Fprintln(notes, out.LocalTimes(line))
	}
	for _, r := range b.repos {
		r.printIgnored(notes)
	}
	b.printLeft(notes)
	b.printDay(out, notes)
	return nil
}

// printIgnored says what nobody with the right to it wrote.
func (r repoStatus) printIgnored(notes io.Writer) {
	if n := r.counts.Outcomes[work.OutcomeNoCommander]; n > 0 {
		fmt.Fprintf(notes, "%s: %s by people without write permission %s ignored\n", r.called, work.Count(n, "command"), wasWere(n))
	}
	if n := r.counts.Outcomes[work.OutcomeTakenOver]; n > 0 {
		fmt.Fprintf(notes, "%s: a login in allowed_users is another account now; %s of it %s ignored, and the log says how to accept it\n", r.called, work.Count(n, "comment"), wasWere(n))
	}
	if n := r.counts.Outcomes[work.OutcomeNoLabeller]; n > 0 {
		fmt.Fprintf(notes, "%s: %s by people without triage permission %s ignored\n", r.called, work.Count(n, "label"), wasWere(n))
	}
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// printRows prints a line for each item, for programs.
func printRows(out terminal.Output, b Board) error {
	var rows [][]string
	for _, f := range b.items {
		r := f.row()
		rows = append(rows, []string{
			r.ref, r.state, out.When(r.since, f.Now), r.waits, r.next, string(f.Flow), r.pullURL, f.Title, r.spent, f.Said.ResultURL,
		})
	}
	return out.Table(nil, rows)
}

// printStandings prints for people what there is, and below it, in full, what
// each item waits for and how it resumes. Those that need somebody are first.
func printStandings(out terminal.Output, b Board) error {
	if len(b.items) == 0 {
		_, err := fmt.Fprintln(out.W, b.nothingOpen())
		return err
	}
	items := slices.Clone(b.items)
	slices.SortStableFunc(items, func(x, y Facts) int { return cmp.Compare(x.urgency(), y.urgency()) })
	var rows [][]string
	for _, f := range items {
		r := f.row()
		rows = append(rows, []string{r.ref, r.state, terminal.Age(r.since, f.Now), r.pull, f.Title})
	}
	if err := out.List([]string{"ITEM", "STATE", "SINCE", "PR", "TITLE"}, rows); err != nil {
		return err
	}
	for _, f := range items {
		r := f.row()
		if r.waits == "" {
			continue
		}
		told := "\n" + strings.Join(terminal.Wrap(r.ref+" waits: "+out.LocalTimes(r.waits), out.Width-4), "\n    ") + "\n"
		if r.next != "" {
			told += out.Indented("  → ", out.LocalTimes(r.next))
		}
		if _, err := fmt.Fprint(out.W, told); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out.W)
	return err
}

func (f Facts) ref() string {
	return fmt.Sprintf("%s#%d", cmp.Or(f.Called, f.Repo.Name.FullName()), f.Number)
}

// urgency sorts items: what is blocked until somebody does something, what is
// in people's hands, and what resumes by itself.
func (f Facts) urgency() int {
	asked := len(f.Unanswered()) > 0
	stands := f.State == work.StateBlocked || f.Turn != nil && f.Turn.Blocked || f.State == work.StateAwaitingIssueFollowup && !asked
	switch {
	case !f.State.Open():
		return 3
	case f.Pause == nil && stands:
		return 0
	case f.Pause != nil, f.State == work.StateAwaitingFeedback && !asked:
		return 1
	}
	return 2
}

// nothingOpen says why the board is empty.
func (b Board) nothingOpen() string {
	finished := 0
	for _, r := range b.repos {
		for state, n := range r.counts.Items {
			if !state.Open() {
				finished += n
			}
		}
	}
	if finished == 0 {
		return "nothing open; an issue becomes a work item by its label"
	}
	return fmt.Sprintf("nothing open; %d finished (gh mergexo status --all)", finished)
}

// printLeft names the repositories that were left with open work, and those that have
// another name by now.
func (b Board) printLeft(notes io.Writer) {
	for _, l := range b.left {
		fmt.Fprintln(notes, terminal.OneLine(l.String()))
	}
	for _, r := range b.repos {
		if r.ID != 0 && !r.Current.Equal(r.Name) {
			fmt.Fprintf(notes, "%s is %s now; write that name in the config\n", r.called, r.Current.FullName())
		}
	}
}

// printDay says what was spent lately; to a program only that nothing is left.
func (b Board) printDay(out terminal.Output, notes io.Writer) {
	if out.TTY {
		fmt.Fprintln(out.W, dayLine(b.day, b.budgets))
	}
	if !b.day.Why.None() {
		fmt.Fprintln(notes, out.LocalTimes(explain.What(b.day.Why, explain.Place{Spending: true})))
	}
}

// dayLine sums the day up.
func dayLine(d spending.Day, b work.Budgets) string { return "last 24 hours: " + d.Describe(b) }
