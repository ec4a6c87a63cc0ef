package roadmap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// Limits of one node, in characters.
const (
	maxID    = 40
	maxTitle = 256   // GitHub's, of an issue's title
	maxText  = 60000 // GitHub takes 65536 in an issue, and ours has markers
)

// nodeID matches ids, which are headings, parts of tokens and words that people type.
var nodeID = lazy.Regexp(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// part is what the section of each node must say, and the names by which it is found.
type part struct {
	name  string
	names []string
}

// parts returns what each section must say: an issue that lacks one of them makes an agent guess.
func parts() []part {
	return []part{
		{"Goal", []string{"goal", "goals", "purpose", "why"}},
		{"Scope", []string{"scope", "inscope", "whatchanges"}},
		{"Acceptance", []string{"acceptance", "acceptancecriteria", "acceptancecriterion", "criteria", "donewhen"}},
		{"Tests", []string{"test", "tests", "testplan", "testing", "howitistested", "howtested", "tested", "verification"}},
	}
}

// lead matches a part that begins a paragraph or list entry, such as "**Goal**: x" or "Goal: x".
var lead = lazy.Regexp(`^[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?([\pL][\pL ]{1,30}?)(?:\*\*|__)?:(?:\*\*|__)?(?:[ \t]|$)`)

// outside matches words of a section that point to text which its issue does not have.
var outside = lazy.Regexp(`(?i)\b(?:(?:as|described|mentioned|defined|listed|explained|see) (?:above|earlier)|(?:previous|preceding|next|following|other) (?:node|section)s?|(?:node|section)s? (?:above|below))\b|\]\((?:#|\.{1,2}/)[^)]*\)`)

// check returns the faults of a document that could be read.
func (d Document) check(b Bounds) []Fault {
	var c checker
	c.whole(d, b)
	known := map[string]int{} // by id: its entry
	for i, n := range d.Nodes {
		if _, twice := known[n.ID]; !twice {
			known[n.ID] = i
		} else if n.ID != "" {
			c.add(n.Line, "the id %q is that of another node already", shown(n.ID))
		}
	}
	for _, n := range d.Nodes {
		c.node(n, b)
		c.needs(n, known, b)
		if n.Issue == 0 {
			c.text(n)
		}
	}
	c.present(d, b.Present)
	c.edges(d)
	if way := circle(d.Nodes); way != nil {
		at := d.Nodes[known[way[0]]].Line
		for i, id := range way {
			way[i] = shown(id)
		}
		c.add(at, "the nodes wait for each other in a circle: %s", strings.Join(way, " needs "))
	}
	return c.out
}

type checker struct{ out []Fault }

func (c *checker) add(line int, format string, args ...any) {
	c.out = append(c.out, Fault{Line: line, Says: fmt.Sprintf(format, args...)})
}

// whole checks what is about no single node.
func (c *checker) whole(d Document, b Bounds) {
	if d.Title == "" {
		c.add(0, "it has no title: a line \"# TITLE\" below the front matter")
	}
	if r := unseen(d.Title + d.Goal); r != "" {
		c.add(0, "its title or its goal has the character %s, which people do not see", r)
	}
	if strings.TrimSpace(d.Goal) == "" {
		c.add(0, "it has no goal: the text between its title and its first section, which each node's agent is given")
	}
	if len(d.Nodes) == 0 {
		c.add(0, "it has no node: its front matter has them as a list, nodes")
	}
	opened := 0
	for _, n := range d.Nodes {
		if n.Issue == 0 {
			opened++
		}
	}
	switch n := len(d.Nodes); {
	case n > MaxSubIssues:
		c.add(0, "it has %d nodes; an issue has at most %d sub-issues", n, MaxSubIssues)
	case opened > 0 && opened+b.SubIssues > MaxSubIssues:
		c.add(0, "it has %d nodes, and its issue has %d sub-issues beside them, closed ones too; an issue has at most %d", opened, b.SubIssues, MaxSubIssues)
	}
	if b.Depth > MaxDepth {
		c.add(0, "its issue is the sub-issue of %d roadmaps, one below the other; roadmaps are nested at most %d deep", b.Depth-1, MaxDepth)
	}
}

// node checks an entry of the front matter.
func (c *checker) node(n Node, b Bounds) {
	switch {
	case n.ID == "":
		c.add(n.Line, "a node has no id")
	case !nodeID().MatchString(n.ID) || len(n.ID) > maxID:
		c.add(n.Line, "the id %q is not made of a-z, 0-9 and single hyphens between them, at most %d characters", shown(n.ID), maxID)
	}
	switch {
	case strings.TrimSpace(n.Title) == "":
		c.add(n.Line, "%s has no title", n.name())
	case unseen(n.Title) != "":
		c.add(n.Line, "%s: its title has the character %s, which people do not see", n.name(), unseen(n.Title))
	case strings.ContainsAny(n.Title, "\r\n"):
		c.add(n.Line, "%s: its title has more than one line", n.name())
	case utf8.RuneCountInString(n.Title) > maxTitle:
		c.add(n.Line, "%s: its title has %d characters; GitHub takes %d", n.name(), utf8.RuneCountInString(n.Title), maxTitle)
	}
	switch {
	case n.Flow == "":
		c.add(n.Line, "%s has no flow: %s", n.name(), flowNames())
	case !slices.Contains(Flows(), n.Flow):
		c.add(n.Line, "%s: its flow %q is none of %s", n.name(), shown(string(n.Flow)), flowNames())
	case n.Flow == work.FlowRoadmap && b.Depth >= MaxDepth:
		c.add(n.Line, "%s is a roadmap; this one is %d deep already, and roadmaps are nested at most %d deep", n.name(), b.Depth, MaxDepth)
	}
}

// name names the node in a fault.
func (n Node) name() string {
	if n.ID == "" {
		return "the node without an id"
	}
	return fmt.Sprintf("node %q", shown(n.ID))
}

func flowNames() string {
	var names []string
	for _, f := range Flows() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// needs checks what a node waits for.
func (c *checker) needs(n Node, known map[string]int, b Bounds) {
	if b.NoEdges && len(n.Needs) > 0 {
		c.add(n.Line, "%s needs others, and this host has no dependencies between issues (GitHub Enterprise Server before 3.19): what comes later belongs to a roadmap of its own", n.name())
		return
	}
	for i, need := range n.Needs {
		switch _, ok := known[need]; {
		case !ok:
			c.add(n.Line, "%s needs %q, which is the id of no node", n.name(), shown(need))
		case slices.Contains(n.Needs[:i], need):
			c.add(n.Line, "%s needs %q twice", n.name(), shown(need))
		}
	}
}

// edges checks how many nodes wait for one, and how many one waits for.
func (c *checker) edges(d Document) {
	waiting := map[string]int{}
	for _, n := range d.Nodes {
		if len(n.Needs) > MaxEdges {
			c.add(n.Line, "%s needs %d nodes; GitHub takes %d issues that block another", n.name(), len(n.Needs), MaxEdges)
		}
		for _, need := range n.Needs {
			waiting[need]++
		}
	}
	for _, n := range d.Nodes {
		if waiting[n.ID] > MaxEdges {
			c.add(n.Line, "%s is needed by %d nodes; GitHub takes %d issues that one blocks", n.name(), waiting[n.ID], MaxEdges)
		}
	}
}

// text checks that a node's section is there, says what an agent must know, and stands alone: the
// sub-issue has no other text.
func (c *checker) text(n Node) {
	if !nodeID().MatchString(n.ID) {
		return
	}
	if strings.TrimSpace(n.Text) == "" {
		c.add(n.Line, "%s has no section with text: a heading \"## %s\" and what is to be done below it", n.name(), n.ID)
		return
	}
	if k := utf8.RuneCountInString(n.Text); k > maxText {
		c.add(n.section, "%s: its section has %d characters; at most %d fit into an issue", n.name(), k, maxText)
	}
	lines := document.Lines(n.Text)
	for i, line := range lines {
		if r := unseen(line); r != "" {
			c.add(n.text+i, "%s: its section has the character %s, which people do not see", n.name(), r)
		}
	}
	prose := document.Prose(lines)
	for _, p := range parts() {
		if !p.in(lines, prose) {
			c.add(n.section, "%s: its section does not say its %s; add a heading \"### %s\" with text below it", n.name(), strings.ToLower(p.name), p.name)
		}
	}
	for i, line := range prose {
		if found := outside().FindString(line); found != "" {
			c.add(n.text+i, "%s: %q points out of its section, and its issue has nothing else; say it there", n.name(), found)
		}
	}
}

// unseen names the first character of a text that people do not see, and that changes what they read: a
// control character, or one that turns the direction of what follows. Empty: there is none.
func unseen(s string) string {
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return fmt.Sprintf("U+%04X", r)
		}
	}
	return ""
}

// in reports whether a section has the part, with text.
func (p part) in(lines, prose []string) bool {
	all := document.Headings(lines)
	for i, h := range all {
		end := len(lines)
		for _, next := range all[i+1:] {
			if next.Level <= h.Level {
				end = next.First
				break
			}
		}
		if h.Is(p.names) && strings.TrimSpace(strings.Join(lines[h.End:end], "")) != "" {
			return true
		}
	}
	return slices.ContainsFunc(prose, func(line string) bool {
		m := lead().FindStringSubmatch(line)
		return m != nil && document.Heading{Text: m[1]}.Is(p.names)
	})
}

// shown returns a short piece of a text from the document, to quote it.
func shown(s string) string {
	if r := []rune(s); len(r) > maxID {
		return string(r[:maxID]) + "…"
	}
	return s
}
