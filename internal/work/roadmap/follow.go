package roadmap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Progress is how far an issue below a roadmap has come.
type Progress string

// The values of Progress.
const (
	ToOpen   Progress = "planned"     // in the document, and not opened on GitHub yet
	Idle     Progress = "idle"        // open, and nobody works on it: it has no label that starts work
	Waiting  Progress = "waiting"     // for what Waits says, before work begins
	Working  Progress = "in_progress" // an agent works on it
	Reviewed Progress = "in_review"   // it has an open pull request, or its merged design is to be implemented
	Landed   Progress = "merged"      // its pull request is merged, and the issue is still open
	OfPerson Progress = "stopped"     // a person must act
	Done     Progress = "done"        // closed as completed
	Dropped  Progress = "dropped"     // closed as not planned
	TakenOut Progress = "taken_out"   // a person took it out of the roadmap, or deleted it
	Hidden   Progress = "hidden"      // sub-issues that the account may not see
)

// words are the progress for people.
var words = map[Progress]string{
	ToOpen: "to be opened", Idle: "nobody works on it", Waiting: "waiting", Working: "in progress", Reviewed: "in review", Landed: "merged", OfPerson: "needs a person",
	Done: "done", Dropped: "not planned", TakenOut: "taken out", Hidden: "hidden from this account",
}

// Says is the progress for people.
func (p Progress) Says() string { return words[p] }

// Over reports whether nothing more happens to the issue.
func (p Progress) Over() bool { return p == Done || p == Dropped || p == TakenOut }

// Issue is one issue below a roadmap: what GitHub lists, what the document asks for, and what is known
// of the work on it.
type Issue struct {
	Ref      string // Dependency.String; empty: it is not opened yet
	Node     string // its id in the document; empty: people added the issue
	Title    string
	Position int // in GitHub's order, which people may change
	Progress Progress
	Pull     int         // number of its newest pull request; 0: none
	Needs    []Need      // what must be closed before it begins
	Waits    work.Reason // what it waits for; none: nothing
}

// Need is an issue that must be closed before another one begins.
type Need struct {
	Ref  string // of the issue, also of one outside the roadmap; NodeKey of a node without an issue
	Open bool
}

// Key is the Key of the issue.
func (n Need) Key() string {
	if strings.HasPrefix(n.Ref, nodePrefix) {
		return n.Ref
	}
	return strings.ToLower(n.Ref)
}

const nodePrefix = "node "

// Key names the issue among those of its roadmap.
func (i Issue) Key() string {
	if i.Ref == "" {
		return nodePrefix + i.Node
	}
	return strings.ToLower(i.Ref)
}

// NodeKey is the Key of a node without an issue.
func NodeKey(id string) string { return Issue{Node: id}.Key() }

// Behind returns, by key, how many open issues the longest path behind each open issue has: those that
// wait for it, and for one another. Issues in a circle never begin, so their numbers mean nothing.
func Behind(issues []Issue) map[string]int {
	waiting := map[string][]string{} // by what they wait for
	for _, i := range issues {
		if i.Progress.Over() {
			continue
		}
		for _, need := range i.Needs {
			waiting[need.Key()] = append(waiting[need.Key()], i.Key())
		}
	}
	longest, walked := map[string]int{}, map[string]bool{}
	var walk func(string) int
	walk = func(at string) int {
		if walked[at] {
			return longest[at]
		}
		walked[at] = true
		for _, next := range waiting[at] {
			if next != at {
				longest[at] = max(longest[at], 1+walk(next))
			}
		}
		return longest[at]
	}
	for _, i := range issues {
		if !i.Progress.Over() {
			walk(i.Key())
		}
	}
	return longest
}

// Names returns what must be closed before the issue begins, for people: references within the
// roadmap's repository, ids of nodes that have no issue yet.
func (i Issue) Names(short func(string) string) []string {
	names := []string{}
	for _, need := range i.Needs {
		if id, planned := strings.CutPrefix(need.Ref, nodePrefix); planned {
			names = append(names, id)
		} else {
			names = append(names, short(need.Ref))
		}
	}
	return names
}

// open returns those of Names that are not closed.
func (i Issue) open(short func(string) string) []string {
	i.Needs = slices.DeleteFunc(slices.Clone(i.Needs), func(n Need) bool { return !n.Open })
	return i.Names(short)
}

// Tally counts the issues that are over and all that nobody took out.
func Tally(issues []Issue) (over, all int) {
	for _, i := range issues {
		switch {
		case i.Progress == TakenOut:
		case i.Progress.Over():
			over, all = over+1, all+1
		default:
			all++
		}
	}
	return over, all
}

// Words are how a roadmap is written: references within its repository, people's text made harmless,
// reasons in words.
type Words struct {
	Short func(ref string) string
	Clean func(string) string
	Why   func(work.Reason) string
}

// WaitsFor says what an issue waits for; empty: nothing.
func (i Issue) WaitsFor(w Words) string {
	if i.Progress.Over() {
		return ""
	}
	open := i.open(w.Short)
	switch {
	case len(open) > 0 && (i.Progress == ToOpen || i.Progress == Idle || i.Progress == Waiting && (i.Waits.None() || i.Waits.Kind == work.WhyDepends)):
		return work.JoinNames(open)
	case i.Progress == Idle:
		return "a label that starts work, or a person"
	case i.Progress == Landed:
		return "a person, who closes it"
	case i.Waits.Kind == work.WhyDepends && len(i.Needs) > 0: // they were closed since
		return ""
	case i.Waits.None():
		return ""
	}
	return w.Why(i.Waits)
}

// footer is the last line of the table of a roadmap.
func (r Record) footer() string {
	switch r.State {
	case Unfolding, Followed:
		changing := ""
		if r.Changing {
			changing = "The plan is being changed, in a pull request of its own. "
		}
		return changing + "People may add, close, block and reorder these issues: gh mergexo follows. In a comment here, `/mergexo replan WHY` changes the plan, `/mergexo pause` keeps the rest from beginning, and `/mergexo cancel` closes what has not begun. This comment is kept up to date."
	case Stopped:
		return "The roadmap is stopped, as a comment here says: no more of it is opened, and what is open continues. This comment is kept up to date."
	case Cancelled:
		return "The roadmap is cancelled: the issues on which no work has begun are closed as not planned. This comment is kept up to date until they are."
	case Deleted, Ended: // nobody reads the one of a deleted issue
	}
	return "The roadmap has ended, with these issues as the table shows them. gh mergexo follows it no more, and this comment stays as it is."
}

// Table is the text of the comment that shows a roadmap on its issue.
func Table(of Record, issues []Issue, w Words) string {
	over, all := Tally(issues)
	var b strings.Builder
	fmt.Fprintf(&b, "**Roadmap:** %d of %s closed.\n\n| issue | state | pull request | waits for |\n|---|---|---|---|\n", over, work.Count(all, "issue"))
	cell := func(s string) string {
		return strings.ReplaceAll(w.Clean(strings.Join(strings.Fields(s), " ")), "|", `\|`)
	}
	for _, i := range issues {
		name := w.Short(i.Ref)
		if i.Ref == "" && i.Node != "" {
			name = "`" + i.Node + "`"
		}
		pull := ""
		if i.Pull != 0 {
			pull = fmt.Sprintf("#%d", i.Pull)
		}
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s |\n", name, cell(i.Title), i.Progress.Says(), pull, cell(i.WaitsFor(w)))
	}
	b.WriteString("\n" + of.footer())
	return b.String()
}

// Line is one line of a roadmap that is drawn as a tree.
type Line struct {
	At     int    // of the issue in the list
	Indent string // the branches of the tree before the issue
}

// Tree draws the graph as a tree, in which an issue stands below the issue that it needs which is itself
// the deepest.
func Tree(issues []Issue) []Line {
	at := map[string]int{}
	for n, i := range issues {
		at[i.Key()] = n
	}
	depth := make([]int, len(issues)) // 0: not known yet
	under := make([]int, len(issues))
	var find func(n int, way []int) int
	find = func(n int, way []int) int {
		if depth[n] > 0 || slices.Contains(way, n) {
			return depth[n]
		}
		best, below := 0, -1
		for _, need := range issues[n].Needs {
			if m, known := at[need.Key()]; known && m != n {
				if d := find(m, append(way, n)); d > best {
					best, below = d, m
				}
			}
		}
		if depth[n] == 0 {
			depth[n], under[n] = best+1, below
		}
		return depth[n]
	}
	below := map[int][]int{}
	for n := range issues {
		find(n, nil)
	}
	for n := range issues {
		below[under[n]] = append(below[under[n]], n)
	}
	var lines []Line
	var draw func(of []int, indent string)
	draw = func(of []int, indent string) {
		slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(issues[a].Position, issues[b].Position) })
		for k, n := range of {
			branch, next := "├─ ", "│  "
			if k == len(of)-1 {
				branch, next = "└─ ", "   "
			}
			lines = append(lines, Line{n, indent + branch})
			draw(below[n], indent+next)
		}
	}
	draw(below[-1], "")
	return lines
}
