package about

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// NewGraphCmd makes the command graph.
func NewGraphCmd(a *cli.App) *cobra.Command {
	return a.WithJSON(graphsView{}, &cobra.Command{
		Use:   "graph [items | reviews | merges | roadmaps]",
		Short: "Print the states of items, reviews, merges and roadmaps as Mermaid diagrams",
		Long: `Print the states of a work item, of the reviews of its pull request, of a merge, of a
merged roadmap and of its nodes, as Mermaid state diagrams with the cause of each
transition, and the meaning of each word below them. The diagrams of items, reviews and
roadmaps are made from the tables that passes use. "items", "reviews", "merges" or
"roadmaps" prints only those: in a "mermaid" code block of a Markdown file or comment,
GitHub shows one as a picture.`,
		Example: `  $ gh mergexo graph
  $ gh mergexo graph reviews
  $ gh mergexo graph --json graphs --jq '.graphs[].transitions[] | .cause'`,
		Args:      cli.Args(cobra.MatchAll(cli.Words(0, 1), cli.OneOfValid)),
		ValidArgs: []string{"items", "reviews", "merges", "roadmaps"},
		RunE: func(_ *cobra.Command, given []string) error {
			if a.JSON.Asked() {
				return a.JSON.Write(a.Output(), graphsView{graphs(given)})
			}
			return writeGraphs(a.Env.Stdout, given)
		},
	})
}

// graphsView is the output of graph.
type graphsView struct {
	Graphs []graphView `json:"graphs"` // the diagrams that were asked for
}

// graphView is one diagram and its transitions.
type graphView struct {
	Name        string `json:"name"`        // items, reviews, merges, roadmaps, nodes (of roadmaps)
	Mermaid     string `json:"mermaid"`     // the diagram, as a fence `mermaid` in Markdown takes it
	Transitions []step `json:"transitions"` // the transitions in the diagram
}

// graphs returns the named diagrams, or all if none is named.
func graphs(wanted []string) []graphView {
	all := []graphView{}
	for _, g := range []graphView{
		{"items", graph(itemSteps()), itemSteps()},
		{"reviews", graph(reviewSteps()) + mergeTypes(), reviewSteps()},
		{"merges", graph(mergeSteps()), mergeSteps()},
		{"roadmaps", graph(roadmapSteps()), roadmapSteps()},
		{"nodes", graph(nodeSteps()), nodeSteps()},
	} {
		asked := g.Name
		if asked == "nodes" {
			asked = "roadmaps"
		}
		if len(wanted) == 0 || slices.Contains(wanted, asked) {
			g.Mermaid += legend(g.Transitions)
			all = append(all, g)
		}
	}
	return all
}

// writeGraphs writes the diagrams, separated by empty lines.
func writeGraphs(out io.Writer, wanted []string) error {
	drawn := terminal.Each(graphs(wanted), func(g graphView) string { return g.Mermaid })
	_, err := io.WriteString(out, strings.Join(drawn, "\n"))
	return err
}

// step is one transition.
type step struct {
	From  string `json:"from"`  // empty: it begins here
	Cause string `json:"cause"` // the cause of the transition
	To    string `json:"to"`    // empty: it ends here
	Means string `json:"means"` // the meaning of the cause
}

// legend explains the words of a diagram below it; Mermaid ignores comments.
func legend(all []step) string {
	var b strings.Builder
	said := map[string]bool{}
	for _, t := range all {
		if t.Means != "" && !said[t.Cause] {
			fmt.Fprintf(&b, "    %%%% %s: %s\n", t.Cause, t.Means)
			said[t.Cause] = true
		}
	}
	return b.String()
}

func itemSteps() []step {
	var all []step
	for _, t := range work.Transitions() {
		all = append(all, step{string(t.From), string(t.Cause), string(t.To), causeMeans[t.Cause]})
	}
	for _, s := range work.States() {
		if !s.Open() {
			all = append(all, step{From: string(s)})
		}
	}
	return all
}

func reviewSteps() []step {
	var all []step
	for _, t := range review.Transitions() {
		all = append(all, step{string(t.From), string(t.Event), string(t.To), eventMeans[t.Event]})
	}
	for _, s := range review.States() {
		if s.Ended() {
			all = append(all, step{From: string(s)})
		}
	}
	return all
}

func roadmapSteps() []step {
	var all []step
	for _, t := range roadmap.Transitions() {
		all = append(all, step{string(t.From), string(t.Event), string(t.To), roadmapMeans[t.Event]})
	}
	return append(all, step{From: string(roadmap.Ended)})
}

// nodeSteps are the steps of a roadmap's node. A node that the document lacks may still learn that its
// sub-issue is gone.
func nodeSteps() []step {
	all := []step{{"", "listed", string(roadmap.Planned), stepMeans["listed"]}}
	causes := map[roadmap.Step]string{roadmap.Made: "opened", roadmap.Labelled: "labelled", roadmap.Removed: "removed", roadmap.Gone: "taken away"}
	for _, from := range roadmap.Steps() {
		for _, to := range roadmap.Steps() {
			if from != to && from.MayMoveTo(to) {
				all = append(all, step{string(from), causes[to], string(to), stepMeans[causes[to]]})
			}
		}
	}
	return append(all, step{From: string(roadmap.Gone)})
}

// mergeTypes is the note in the diagram of reviews on the ways in which a pull request is merged.
func mergeTypes() string {
	return fmt.Sprintf("    note right of %s : %s (before everybody had approved), %s (by a person after that), %s (by gh mergexo after that)\n",
		review.Merged, review.MergedForced, review.MergedApproved, review.MergedAuto)
}

// graph draws one arrow for each pair of states, with all its causes.
func graph(all []step) string {
	causes, order := map[string][]string{}, []string{}
	for _, t := range all {
		if t.From == t.To {
			continue
		}
		arrow := edge(t.From) + " --> " + edge(t.To)
		if causes[arrow] == nil {
			order = append(order, arrow)
		}
		causes[arrow] = append(causes[arrow], t.Cause)
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, arrow := range order {
		if by := strings.Join(causes[arrow], ", "); by != "" {
			arrow += ": " + by
		}
		b.WriteString("    " + arrow + "\n")
	}
	return b.String()
}

// edge returns a state's name in the diagram; the empty state is where a life begins and ends.
func edge(state string) string {
	if state == "" {
		return "[*]"
	}
	return state
}
