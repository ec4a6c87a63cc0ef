package status

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/looks"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Print prints the items on out. Problems of repositories and remarks go to notes: below the items
// on a terminal, to standard error when a program reads the output.
func (b Board) Print(out terminal.Output, notes io.Writer) error {
	b.printStopped(out, notes)
	table := printRows
	if out.TTY {
		table = printStandings
	}
	if err := table(out, b); err != nil {
		return err
	}
	if out.TTY {
		if err := b.printEnded(out, out.W); err != nil {
			return err
		}
	}
	for _, host := range slices.Sorted(maps.Keys(b.clocks)) {
		if why := env.ClockTrouble(host, b.clocks[host]); why != "" {
			fmt.Fprintln(notes, why)
		}
	}
	for _, line := range b.repoLines() {
		fmt.Fprintln(notes, out.LocalTimes(line))
	}
	var lines looks.Lines
	for _, r := range b.repos {
		lines.Add(r.called, r.Repo, r.watched)
	}
	lines.Print(out, notes, b.now)
	for _, r := range b.repos {
		r.printIgnored(notes)
	}
	b.printLeft(notes)
	b.printUntold(notes)
	b.printDay(out, notes)
	return nil
}

// printIgnored reports ignored commands and comments of people without permission.
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

// printRows prints one line per item, for programs.
func printRows(out terminal.Output, b Board) error {
	return out.Table(nil, terminal.Each(b.items, func(f Facts) []string { return f.columns(out) }))
}

func (f Facts) columns(out terminal.Output) []string {
	r := f.row()
	return []string{r.ref, r.state, out.When(r.since, f.Now), r.waits, r.next, string(f.Flow), r.pullURL, f.Title, r.spent, f.Said.ResultURL}
}

// PrintChanges prints, for programs, the lines of items that differ from those in seen, and records
// them there. It skips finished items unless all is set.
func (b Board) PrintChanges(out terminal.Output, seen map[string]string, all bool) error {
	var rows [][]string
	for _, f := range b.items {
		columns, key := f.columns(out), fmt.Sprintf("%s %s", f.ref(), f.Flow)
		line, before := strings.Join(columns, "\t"), seen[key]
		if seen[key] = line; line != before && (all || f.State.Open()) {
			rows = append(rows, columns)
		}
	}
	return out.Table(nil, rows)
}

// printStandings prints the items for people, and below each in full why it waits and how it
// resumes. Items that need a person come first.
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
		if f.Worked != nil {
			if _, err := fmt.Fprint(out.W, "\n"+strings.Join(terminal.Wrap(r.ref+" works: "+f.Worked.Says(f.Local), out.Width-4), "\n    ")+"\n"); err != nil {
				return err
			}
			continue
		}
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

// urgency orders items: blocked until a person acts, then waiting for people, then resuming by
// themselves, then finished.
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

// nothingOpen tells why the board is empty.
func (b Board) nothingOpen() string {
	finished, unread := 0, 0
	for _, r := range b.repos {
		if r.HeartbeatAt.IsZero() {
			unread++
		}
		for state, n := range r.counts.Items {
			if !state.Open() {
				finished += n
			}
		}
	}
	switch {
	case unread == len(b.repos):
		return "nothing is known yet: no repository could be read"
	case unread > 0:
		return "nothing open in the repositories that could be read"
	case finished == 0:
		return "nothing open; an issue becomes a work item by its label"
	}
	return fmt.Sprintf("nothing open; %d finished (gh mergexo status --all)", finished)
}

// printLeft lists the repositories that left the config with open work, and those that were
// renamed.
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

// printDay prints the recent usage; to a program only that a budget is used up.
func (b Board) printDay(out terminal.Output, notes io.Writer) {
	if out.TTY {
		fmt.Fprintln(out.W, dayLine(b.day, b.budgets))
	}
	if !b.day.Why.None() {
		fmt.Fprintln(notes, out.LocalTimes(explain.What(b.day.Why, explain.Place{Spending: true})))
	}
}

// dayLine sums up the last 24 hours.
func dayLine(d spending.Day, b work.Budgets) string { return "last 24 hours: " + d.Describe(b) }

// repoLines returns why repositories were not read, and when they will be.
func (b Board) repoLines() []string {
	var shared cli.SharedLines
	for _, r := range b.repos {
		for _, text := range r.ignored {
			shared.Add(r.called, text)
		}
		switch {
		case r.ID == 0:
			shared.Add(r.called, "not seen yet")
		case r.LastError != "":
			shared.Add(r.called, r.LastError)
			if r.NotBefore.After(b.now) {
				shared.Until(r.LastError, r.NotBefore)
			}
		}
	}
	return shared.Lines()
}
