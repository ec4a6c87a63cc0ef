package roadmap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// unopened is the number of the first sub-issue that Ahead has opened.
const unopened = 1 << 30

// Ahead returns what passes do for a roadmap from now on, in order, if GitHub takes all of it and people do
// nothing but end a hold. It is what Next decides if each action succeeds.
func Ahead(f Facts) (all []Deed) {
	f.Held = false
	f.Nodes, f.Below, f.Actions = slices.Clone(f.Nodes), slices.Clone(f.Below), maps.Clone(f.Actions)
	maps.DeleteFunc(f.Actions, func(_ string, a work.Action) bool { return !a.State.Settled() }) // it is still to come
	for {
		out := Next(f)
		for _, m := range out.Moves {
			f.Nodes[slices.IndexFunc(f.Nodes, func(c Child) bool { return c.Node == m.Before.Node })] = m.After
		}
		to, moves := f.Record.State.After(out.Event)
		if moves {
			f.Record.State, f.Record.Why = to, out.Why
		}
		for _, d := range out.Deeds {
			f.done(d, unopened+len(all))
			all = append(all, d)
		}
		if len(out.Moves)+len(out.Deeds) == 0 && !moves {
			return all
		}
	}
}

// done gives the facts the result of an action that succeeded. An issue that it opens has the number.
func (f *Facts) done(d Deed, number int) {
	a := work.Action{State: work.ActionApplied}
	switch d.Kind { //nolint:exhaustive // of the others only that they are done matters
	case DeedMake:
		a.ResultID, a.Head = strconv.Itoa(number), d.Node.Hash
		f.Below = append(f.Below, SubIssue{Ref: f.Ref(Child{Number: number}), Title: d.Node.Title, State: work.DependencyOpen})
	case DeedClose:
		for i, s := range f.Below {
			if s.Ref == f.Ref(d.Node) {
				f.Below[i].State = work.DependencyDropped
			}
		}
	}
	f.Actions[d.Token] = a
}

// Lines says what Ahead returned, a line for each node. label returns the label that starts a flow.
func Lines(deeds []Deed, label func(work.Flow) string) (lines []string) {
	at := map[string]int{}
	for _, d := range deeds {
		said, id := "", d.Node.Node
		switch d.Kind {
		case DeedMake:
			said = fmt.Sprintf("open %q (%s)", d.Node.Title, strings.ReplaceAll(string(d.Node.Flow), "_", " "))
		case DeedBlock:
			said = "blocked by " + d.On.Node
		case DeedUnblock:
			said = "not blocked by " + d.On.Node
		case DeedEdit:
			said = "with the document's text, unless work on it begins or a person edits it"
		case DeedLabel:
			said = "then with the label " + label(d.Node.Flow)
		case DeedClose:
			said = "close as not planned, unless work on it begins"
		case DeedSay:
			said = "say that the document changed, and that it stays"
		case DeedSumUp:
			said = "say what became of the roadmap"
		case DeedFinish:
			said = "close the roadmap's issue"
		case DeedForget: // it makes nothing
			continue
		}
		n, begun := at[id]
		switch {
		case id == "":
			lines = append(lines, said)
		case begun:
			lines[n] += ", " + said
		default:
			if d.Kind != DeedMake {
				said = fmt.Sprintf("#%d %s: %s", d.Node.Number, d.Node.Title, said)
			}
			at[id], lines = len(lines), append(lines, said)
		}
	}
	return lines
}
