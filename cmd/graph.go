package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

func newGraphCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "graph [items | reviews]",
		Short: "Print the life of a work item, and of its reviews, as Mermaid diagrams",
		Long: `Print the states of a work item, and those of the reviews of its pull request,
each as a Mermaid state diagram with what moves it from one state to another. They
are made from the tables that the passes go by. With "items" or "reviews" only
that diagram is printed: a Markdown file or comment on GitHub shows it as a
picture, in a fence "mermaid".`,
		Example: `  $ gh mergexo graph
  $ gh mergexo graph reviews`,
		Args:      args(cobra.MatchAll(words(0, 1), oneOfValid)),
		ValidArgs: []string{"items", "reviews"},
		RunE:      func(_ *cobra.Command, given []string) error { return writeGraphs(a.env.Stdout, given) },
	}
}

// writeGraphs writes the diagrams that are asked for, or all of them.
func writeGraphs(out io.Writer, wanted []string) error {
	between := ""
	for _, g := range []struct {
		name string
		made string
	}{{"items", graph(itemSteps())}, {"reviews", graph(reviewSteps()) + mergeTypes()}} {
		if len(wanted) > 0 && !slices.Contains(wanted, g.name) {
			continue
		}
		if _, err := io.WriteString(out, between+g.made); err != nil {
			return err
		}
		between = "\n"
	}
	return nil
}

// step is one line of a life. An empty from is its beginning, an empty to its end.
type step struct{ from, cause, to string }

func itemSteps() []step {
	var all []step
	for _, t := range work.Transitions() {
		all = append(all, step{string(t.From), string(t.Cause), string(t.To)})
	}
	for _, s := range work.States() {
		if !s.Open() {
			all = append(all, step{from: string(s)})
		}
	}
	return all
}

func reviewSteps() []step {
	var all []step
	for _, t := range review.Transitions() {
		all = append(all, step{string(t.From), string(t.Event), string(t.To)})
	}
	for _, s := range review.States() {
		if s.Ended() {
			all = append(all, step{from: string(s)})
		}
	}
	return all
}

// mergeTypes is what the diagram of reviews says of how a pull request comes to be merged.
func mergeTypes() string {
	return fmt.Sprintf("    note right of %s : %s (before everybody had approved), %s (by a person after that), %s (by gh mergexo after that)\n",
		review.Merged, review.MergedForced, review.MergedApproved, review.MergedAuto)
}

// graph draws one arrow for each pair of states, with all its causes.
func graph(all []step) string {
	causes, order := map[string][]string{}, []string{}
	for _, t := range all {
		if t.from == t.to {
			continue
		}
		arrow := edge(t.from) + " --> " + edge(t.to)
		if causes[arrow] == nil {
			order = append(order, arrow)
		}
		causes[arrow] = append(causes[arrow], t.cause)
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

// edge is a state as the diagram has it, or where a life begins and ends.
func edge(state string) string {
	if state == "" {
		return "[*]"
	}
	return state
}
