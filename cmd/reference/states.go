package reference

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// statesPage draws the tables of transitions that passes use.
func statesPage() string {
	items, reviews, roadmaps := drawing{}, drawing{}, drawing{}
	for _, t := range work.Transitions() {
		items.add(string(t.From), string(t.To), string(t.Cause))
	}
	for _, t := range review.Transitions() {
		reviews.add(string(t.From), string(t.To), string(t.Event))
	}
	for _, t := range roadmap.Transitions() {
		roadmaps.add(string(t.From), string(t.To), string(t.Event))
	}
	return generated + "# States\n\nEach arrow has the events that move along it. Nothing else moves.\n" +
		items.as("A work item") + reviews.as("The reviews of a pull request") + roadmaps.as("A merged roadmap")
}

// drawing is a state diagram: one arrow for each pair of states, in order, with all its events.
type drawing struct {
	order  []string
	events map[string][]string
}

func (d *drawing) add(from, to, event string) {
	if from == to {
		return
	}
	if from == "" {
		from = "[*]" // where a life begins
	}
	arrow := from + " --> " + to
	if d.events == nil {
		d.events = map[string][]string{}
	}
	if d.events[arrow] == nil {
		d.order = append(d.order, arrow)
	}
	d.events[arrow] = append(d.events[arrow], event)
}

// as is the diagram below a heading, as GitHub draws it.
func (d *drawing) as(heading string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n```mermaid\nstateDiagram-v2\n", heading)
	for _, arrow := range d.order {
		fmt.Fprintf(&b, "    %s: %s\n", arrow, strings.Join(d.events[arrow], ", "))
	}
	return b.String() + "```\n"
}
