package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func newGraphCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "graph",
		Short: "Print the life of a work item as a Mermaid diagram",
		Long: `Print the states of a work item, and what moves it from one to another, as a
Mermaid state diagram. It is made from the table that the passes go by. A
Markdown file or comment on GitHub shows it as a picture, in a fence "mermaid".`,
		Args: args(words(0, 0)),
		RunE: func(*cobra.Command, []string) error { return writeGraph(a.env.Stdout, work.Transitions()) },
	}
}

// writeGraph writes one arrow for each pair of states, with all its causes.
func writeGraph(out io.Writer, all []work.Transition) error {
	causes, order := map[string][]string{}, []string{}
	for _, t := range all {
		if t.From == t.To {
			continue
		}
		from := string(t.From)
		if from == "" {
			from = "[*]"
		}
		arrow := from + " --> " + string(t.To)
		if causes[arrow] == nil {
			order = append(order, arrow)
		}
		causes[arrow] = append(causes[arrow], string(t.Cause))
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, arrow := range order {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(causes[arrow], ", "))
	}
	for _, s := range work.States() {
		if !s.Open() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
