package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// Roadmap is what a turn about a roadmap's document must know.
type Roadmap struct {
	Depth     int      `json:"depth"`      // 1: the issue is the sub-issue of no roadmap
	Run       int      `json:"run"`        // replan: number of the pull request that began the roadmap
	SubIssues int      `json:"sub_issues"` // that the issue has beside the document's nodes, closed ones too
	NoEdges   bool     `json:"no_edges"`   // the host has no dependencies between issues
	Below     []string `json:"below"`      // what GitHub lists below the issue, one line each
	Document  string   `json:"document"`   // replan: the document that is applied now
	Begun     []string `json:"begun"`      // replan: what has become of each node, one line each
	Why       string   `json:"why"`        // replan: why it is to change
	Faults    []string `json:"faults"`     // of the document at the head, each with its line; such a document is not merged

	Present []SubIssue `json:"present"` // what is below the issue: the answer is checked with it; the prompt has Below
}

// SubIssue is a roadmap.Present.
type SubIssue struct {
	Number int                  `json:"number"`
	Node   string               `json:"node"`
	Title  string               `json:"title"`
	Text   string               `json:"text"`
	State  work.DependencyState `json:"state"`
}

// Bounds returns the bounds of the document.
func (r *Roadmap) Bounds() roadmap.Bounds {
	if r == nil {
		return roadmap.Bounds{Depth: 1}
	}
	b := roadmap.Bounds{Depth: r.Depth, SubIssues: r.SubIssues, NoEdges: r.NoEdges}
	for _, s := range r.Present {
		b.Present = append(b.Present, roadmap.Present(s))
	}
	return b
}

// present returns the document that is applied now; without nodes: there is none.
func (r *Roadmap) present() roadmap.Document {
	if r == nil || r.Document == "" {
		return roadmap.Document{}
	}
	d, _ := roadmap.Parse([]byte(r.Document))
	return d
}

// RoadmapNode is a node of an answer. Its texts are empty where the present document's section is
// kept.
type RoadmapNode struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	Flow       work.Flow `json:"flow"`
	Needs      []string  `json:"needs"`
	Issue      int       `json:"issue"` // the sub-issue that it adopts; 0: none
	Goal       string    `json:"goal"`
	Scope      string    `json:"scope"`
	Acceptance string    `json:"acceptance"`
	Tests      string    `json:"tests"`
}

// parts returns the node's texts with their headings.
func (n RoadmapNode) parts() [][2]string {
	return [][2]string{{"Goal", n.Goal}, {"Scope", n.Scope}, {"Acceptance", n.Acceptance}, {"Tests", n.Tests}}
}

// kept reports whether the node has no text of its own.
func (n RoadmapNode) kept() bool {
	return !slices.ContainsFunc(n.parts(), func(p [2]string) bool { return strings.TrimSpace(p[1]) != "" })
}

func (n RoadmapNode) text() string {
	var b strings.Builder
	for _, p := range n.parts() {
		b.WriteString("### " + p[0] + "\n\n" + public.Balanced(paragraph(p[1])) + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

// RoadmapDocument returns the document of an answer. What the answer leaves out is kept from the
// present document.
func RoadmapDocument(issue int, a Answer, r *Roadmap) roadmap.Document {
	now := r.present()
	d := roadmap.Document{Issue: issue, Title: public.Title(a.Title), Goal: public.Balanced(paragraph(a.Goal))}
	if d.Title == "" {
		d.Title = now.Title
	}
	if d.Goal == "" {
		d.Goal = now.Goal
	}
	for _, n := range a.Nodes {
		node := roadmap.Node{ID: n.ID, Title: public.Title(n.Title), Flow: n.Flow, Needs: n.Needs, Issue: n.Issue, Text: n.text()}
		if old, ok := now.Node(n.ID); ok && n.kept() {
			node.Text, node.Issue = old.Text, old.Issue
		} else if n.Issue != 0 {
			node.Text = ""
		}
		d.Nodes = append(d.Nodes, node)
	}
	return d
}

// SameRoadmap reports whether a document says what the one that is applied now says.
func SameRoadmap(d roadmap.Document, r *Roadmap) bool {
	now := r.present()
	same := slices.EqualFunc(now.Nodes, d.Nodes, func(a, b roadmap.Node) bool { return a.ID == b.ID }) && differences(now, d) == noDifference
	return same && now.Title == d.Title && strings.TrimSpace(now.Goal) == strings.TrimSpace(d.Goal)
}

// roadmap checks a roadmap's answer by the gate that its document has to pass before each push. The
// faults are named without lines: the agent has not seen the document.
func (c *checker) roadmap(a Answer, r *Roadmap, blocked bool) {
	if blocked {
		return
	}
	now := r.present()
	if len(now.Nodes) == 0 {
		c.title("title", a.Title, false)
		c.text("goal", a.Goal, false)
	}
	if len(a.Nodes) == 0 {
		c.add("nodes is empty; it may be so only when blocked_reason says why")
	}
	for i, n := range a.Nodes {
		if _, old := now.Node(n.ID); n.kept() && (old || n.Issue != 0) {
			continue
		}
		for _, p := range n.parts() {
			if strings.TrimSpace(p[1]) == "" {
				c.add("nodes[%d] (%s): %s is empty", i, n.ID, strings.ToLower(p[0]))
			}
		}
	}
	if len(c.out) > 0 { // the gate would say the same in other words
		return
	}
	_, faults := roadmap.Read(roadmap.Render(RoadmapDocument(0, a, r)), r.Bounds())
	for _, f := range faults {
		c.add("%s", f.Says)
	}
}

// RoadmapSummary returns the text of the pull request of a roadmap's document at path: its goal, its
// nodes, or what changes of them and why, then remarks, and what merging does within the limits.
func RoadmapSummary(d roadmap.Document, path string, limits roadmap.Limits, r *Roadmap) string {
	var b strings.Builder
	if r == nil || r.Why == "" {
		fmt.Fprintf(&b, "%s\n\nThe plan is in `%s`:\n\n%s", strings.TrimSpace(d.Goal), path, listed(d.Nodes))
	} else {
		fmt.Fprintf(&b, "Changes the roadmap of #%d, in `%s`. The reason:\n\n> %s\n", d.Issue, path, strings.ReplaceAll(strings.TrimSpace(public.Body(public.Visible(r.Why))), "\n", "\n> "))
		b.WriteString(differences(r.present(), d))
	}
	if remarks := d.Remarks(); len(remarks) > 0 {
		b.WriteString("\nTo think about:\n\n- " + strings.Join(remarks, "\n- ") + "\n")
	}
	if r == nil || r.Why == "" {
		fmt.Fprintf(&b, "\nMerging this opens each of them as a sub-issue of #%d and starts agents on them, %s.", d.Issue, within(limits))
	} else {
		fmt.Fprintf(&b, "\nMerging this opens what is added as sub-issues of #%d and starts agents on them, %s. What is changed or dropped, and neither begun nor edited by a person, "+
			"gets the new text or is closed as not planned; all else stays, and a comment there says so.", d.Issue, within(limits))
	}
	b.WriteString(" The file counts, not this list: to change the plan, comment here or edit the file. " +
		"`gh mergexo tick --dry-run` after the merge lists everything before it is opened.\n")
	return b.String()
}

// within says how much of a roadmap begins.
func within(l roadmap.Limits) string {
	if l.MaxCost == 0 {
		return fmt.Sprintf("at most %d at a time, without a cost limit", l.Parallel)
	}
	return fmt.Sprintf("at most %d at a time, and none once they have cost %.2f USD", l.Parallel, l.MaxCost)
}

// listed lists nodes, each with its flow and what it comes after.
func listed(nodes []roadmap.Node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "- `%s` %s (%s)", n.ID, public.InlineBody(n.Title), strings.ReplaceAll(string(n.Flow), "_", " "))
		if n.Issue != 0 {
			fmt.Fprintf(&b, ", which is #%d as it is", n.Issue)
		}
		if len(n.Needs) > 0 {
			b.WriteString(", after `" + strings.Join(n.Needs, "`, `") + "`")
		}
		b.WriteString("\n")
	}
	return b.String()
}

const noDifference = "\nNo node is added, changed or dropped.\n"

// differences lists what one document adds to, changes in and drops from another.
func differences(now, next roadmap.Document) string {
	var added, changed, dropped []roadmap.Node
	for _, n := range next.Nodes {
		old, known := now.Node(n.ID)
		switch {
		case !known:
			added = append(added, n)
		case old.Title != n.Title || old.Flow != n.Flow || old.Issue != n.Issue || !slices.Equal(old.Needs, n.Needs) || strings.TrimSpace(old.Text) != strings.TrimSpace(n.Text):
			changed = append(changed, n)
		}
	}
	for _, n := range now.Nodes {
		if _, kept := next.Node(n.ID); !kept {
			dropped = append(dropped, n)
		}
	}
	var b strings.Builder
	for _, part := range []struct {
		word  string
		nodes []roadmap.Node
	}{{"Added", added}, {"Changed", changed}, {"Dropped", dropped}} {
		if len(part.nodes) > 0 {
			fmt.Fprintf(&b, "\n%s:\n\n%s", part.word, listed(part.nodes))
		}
	}
	if b.Len() == 0 {
		return noDifference
	}
	return b.String()
}

// Limits of a roadmap in a prompt, in characters.
const (
	maxRoadmap = 120000
	maxWhy     = 2000
	maxFaults  = 40
)

func prepareRoadmap(r *Roadmap) *Roadmap {
	if r == nil {
		return nil
	}
	out := *r
	out.Document = cut(public.Visible(out.Document), maxRoadmap)
	out.Why = said(out.Why, maxWhy)
	out.Below = lines(out.Below, roadmap.MaxSubIssues+1)
	out.Begun, out.Faults = lines(out.Begun, roadmap.MaxSubIssues+1), lines(out.Faults, maxFaults)
	return &out
}

// roadmapPage is what the templates are told of a roadmap. Text of people is fenced.
type roadmapPage struct {
	Room    int  // nodes that the document may have
	Nested  bool // nodes may be roadmaps
	NoEdges bool // no node may need another
	Below   string
	Present string
	Begun   string
	Why     string
	Faults  string
}

func newRoadmapPage(f fencer, c Context) *roadmapPage {
	r := c.Roadmap
	if r == nil {
		return nil
	}
	p := &roadmapPage{Room: max(0, roadmap.MaxSubIssues-r.SubIssues), Nested: r.Depth < roadmap.MaxDepth, NoEdges: r.NoEdges}
	p.Below = f.optional("sub-issues", strings.Join(r.Below, "\n"))
	p.Present, p.Begun = f.optional("present document", r.Document), f.optional("what has become of its nodes", strings.Join(r.Begun, "\n"))
	p.Why, p.Faults = f.optional("why it is to change", r.Why), f.optional("faults of the document", strings.Join(r.Faults, "\n"))
	return p
}
