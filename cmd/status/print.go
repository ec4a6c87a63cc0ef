package status

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Print prints the items on out. Problems of repositories and remarks go to notes: below the items
// on a terminal, to standard error when a program reads the output.
func (b Board) Print(out terminal.Output, notes io.Writer) error {
	tell := func(lines ...string) {
		for _, line := range lines {
			fmt.Fprintln(notes, out.Ours(line))
		}
	}
	for _, r := range b.Repos {
		if s := r.Stopped; s != nil {
			tell(fmt.Sprintf("%s: MERGING IS STOPPED since %s: %s. Check what landed, then: %s", r.Name, work.Stamp(s.Since.Time), s.Reason, s.Resume))
		}
	}
	if !out.TTY {
		if err := out.Table(nil, terminal.Each(b.Items, func(i Item) []string { return i.columns(out) })); err != nil {
			return err
		}
	} else if err := errors.Join(b.printStandings(out), b.printEnded(out)); err != nil {
		return err
	}
	tell(b.notes()...)
	if out.TTY {
		fmt.Fprintln(out.W, "last 24 hours: "+b.Day.says)
	}
	if b.Day.Code != "" {
		tell(b.Day.why)
	}
	return nil
}

// notes are the remarks below the items, one line each.
func (b Board) notes() []string {
	var lines []string
	for _, host := range slices.Sorted(maps.Keys(b.clocks)) {
		if why := env.ClockTrouble(host, b.clocks[host]); why != "" {
			lines = append(lines, why)
		}
	}
	lines = append(lines, b.repoNotes()...)
	for _, t := range b.undelivered { // GitHub does not show it
		lines = append(lines, fmt.Sprintf("%s to %s did not arrive; the last: %s (gh mergexo logs --level warn)", work.Count(t.Count, "message"), t.Target, terminal.OneLine(t.LastError)))
	}
	for _, line := range b.machines.Troubles(b.here, b.now) {
		lines = append(lines, line[0]+"; "+line[1])
	}
	for _, s := range b.strangers {
		lines = append(lines, fmt.Sprintf("since %s a session of the database server that is no machine of yours holds locks there (role %s, process %d), and no pass gets them; "+
			"end it, as a superuser: SELECT pg_terminate_backend(%d)", work.Stamp(s.Since), s.Role, s.PID, s.PID))
	}
	lines = append(lines, terminal.Each(b.Outages, Outage.says)...)
	var failed cli.SharedLines
	for _, i := range b.Items {
		if f := i.setupFailed; f.Why != "" && i.open {
			text := setupSays(f) + "; its output: gh mergexo logs --level warn"
			failed.Add(i.ref(), text)
			failed.Last(text, f.At)
		}
	}
	return append(lines, failed.Lines()...)
}

// printStandings prints the items for people, and below each in full why it waits and how it
// resumes. Items that need a person come first.
func (b Board) printStandings(out terminal.Output) error {
	if len(b.Items) == 0 {
		_, err := fmt.Fprintln(out.W, out.Ours(b.nothingOpen()))
		return err
	}
	items := slices.Clone(b.Items)
	sorted.By(items, func(x, y Item) int { return cmp.Compare(x.urgency, y.urgency) })
	rows := terminal.Each(items, func(i Item) []string {
		pull := ""
		if i.PullRequest != nil {
			pull = fmt.Sprintf("#%d", i.PullRequest.Number)
		}
		return []string{i.ref(), i.State, terminal.Age(i.Since.Time, i.now), pull, i.Title}
	})
	if err := out.List([]string{"ITEM", "STATE", "SINCE", "PR", "TITLE"}, rows); err != nil {
		return err
	}
	for _, i := range items {
		said, next := "", ""
		switch {
		case i.Turn != nil:
			said = i.ref() + " works: " + i.Turn.Says(i.local)
		case i.WaitingFor == "":
			continue
		default:
			said = i.ref() + " waits: " + out.Ours(i.WaitingFor)
			if i.NextStep != "" {
				next = out.Linked("  → ", out.Ours(i.NextStep), i.toAct())
			}
		}
		if _, err := fmt.Fprint(out.W, "\n"+strings.Join(terminal.Wrap(said, out.Width-4), "\n    ")+"\n"+next); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out.W)
	return err
}

// toAct is the URL where people do the item's next step; empty: it is not theirs.
func (i Item) toAct() string {
	if !i.Stopped && !explain.OfPeople(i.ReasonCode) {
		return ""
	}
	return i.address()
}

// nothingOpen tells why the board is empty.
func (b Board) nothingOpen() string {
	configured, unread, finished := 0, 0, false
	for _, r := range b.Repos {
		if r.Gone != "" {
			continue
		}
		if configured++; r.SeenAt.IsZero() {
			unread++
		}
		for state, n := range r.items {
			finished = finished || n > 0 && !state.Open()
		}
	}
	switch {
	case unread == configured:
		return "nothing is known yet: no repository could be read"
	case unread > 0:
		return "nothing open in the repositories that could be read"
	case finished:
		return "nothing open; to list what is finished: gh mergexo status --all"
	}
	return "nothing open; an issue becomes a work item by its label"
}
