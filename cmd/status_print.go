package cmd

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick"
)

// printBoard prints the items on standard output. What is wrong with a
// repository goes below on a terminal, and beside, on standard error, when the
// output is read by a program.
func (a *app) printBoard(out output, b board) error {
	table := printRows
	if out.tty {
		table = printStandings
	}
	if err := table(out, b); err != nil {
		return err
	}
	notes := a.env.Stderr
	if out.tty {
		notes = out.w
	}
	for _, host := range slices.Sorted(maps.Keys(b.clocks)) {
		if why := tick.ClockTrouble(host, b.clocks[host]); why != "" {
			fmt.Fprintln(notes, why)
		}
	}
	for _, line := range b.repoLines() {
		fmt.Fprintln(notes, out.local(line))
	}
	for _, r := range b.repos {
		if n := r.counts.Outcomes[work.OutcomeNoCommander]; n > 0 {
			fmt.Fprintf(notes, "%s: %s by people without write permission %s ignored\n", r.called, count(n, "command"), wasWere(n))
		}
		if n := r.counts.Outcomes[work.OutcomeTakenOver]; n > 0 {
			fmt.Fprintf(notes, "%s: a login in allowed_users is another account now; %s of it %s ignored, and the log says how to accept it\n", r.called, count(n, "comment"), wasWere(n))
		}
		if n := r.counts.Outcomes[work.OutcomeNoLabeller]; n > 0 {
			fmt.Fprintf(notes, "%s: %s by people without triage permission %s ignored\n", r.called, count(n, "label"), wasWere(n))
		}
	}
	return nil
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// printRows prints a line for each item, for programs.
func printRows(out output, b board) error {
	var rows [][]string
	for _, f := range b.items {
		s := f.standing()
		pull := ""
		if f.Pull != nil {
			pull = f.Pull.URL
		}
		rows = append(rows, []string{
			f.ref(), f.state(), out.when(f.since(), f.Now),
			s.waits, s.next, string(f.Item.Flow), pull, f.Item.Title, spentLine(f), f.Said.ResultURL,
		})
	}
	return out.table(nil, rows)
}

// printStandings prints for people what there is, and below it, in full, what
// each item waits for and how it goes on. Those that need somebody are first.
func printStandings(out output, b board) error {
	if len(b.items) == 0 {
		_, err := fmt.Fprintln(out.w, b.nothingOpen())
		return err
	}
	items := slices.Clone(b.items)
	slices.SortStableFunc(items, func(x, y facts) int { return cmp.Compare(x.urgency(), y.urgency()) })
	var rows [][]string
	for _, f := range items {
		pull := ""
		if f.Pull != nil {
			pull = fmt.Sprintf("#%d", f.Pull.Number)
		}
		rows = append(rows, []string{f.ref(), f.state(), age(f.since(), f.Now), pull, f.Item.Title})
	}
	if err := out.list([]string{"ITEM", "STATE", "SINCE", "PR", "TITLE"}, rows); err != nil {
		return err
	}
	for _, f := range items {
		s := f.standing()
		if s.waits == "" {
			continue
		}
		told := "\n" + strings.Join(wrap(f.ref()+" waits: "+out.local(s.waits), out.width-4), "\n    ") + "\n"
		if s.next != "" {
			told += out.indented("  → ", out.local(s.next))
		}
		if _, err := fmt.Fprint(out.w, told); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out.w)
	return err
}

func (f facts) ref() string {
	return fmt.Sprintf("%s#%d", or(f.Called, f.Repo.Name.FullName()), f.Item.Number)
}

func (f facts) pullRef() string {
	return fmt.Sprintf("%s#%d", or(f.Called, f.Repo.Name.FullName()), f.Pull.Number)
}

// urgency sorts items: what stands still until somebody does something, what is
// in people's hands, and what goes on by itself.
func (f facts) urgency() int {
	stands := f.Item.State == work.StateBlocked || f.Turn != nil && f.Turn.Blocked ||
		f.Item.State == work.StateAwaitingIssueFollowup && f.Pending == 0
	switch {
	case !f.Item.State.Open():
		return 3
	case f.Pause == nil && stands:
		return 0
	case f.Pause != nil, f.Item.State == work.StateAwaitingFeedback && f.Pending == 0:
		return 1
	}
	return 2
}

// nothingOpen says why the board is empty.
func (b board) nothingOpen() string {
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
