package roadmap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// maxDocument bounds a document, in bytes: GitHub's API returns no larger file.
const maxDocument = 1 << 20

// maxFaults bounds the faults that are listed: people mend some, and see the rest then.
const maxFaults = 50

// bounds bound the front matter: more nodes than an issue can have are read, to say how many they are.
var bounds = document.Bounds{Bytes: 256 << 10, Entries: 10 * MaxSubIssues, Depth: 4}

// Keys of the front matter, and of one node in it.
const (
	keyIssue = "issue"
	keyNodes = "nodes"
	keyID    = "id"
	keyTitle = "title"
	keyFlow  = "flow"
	keyNeeds = "needs"
)

// Parse reads a document and returns the faults because of which it cannot be read; Read finds the
// others, too. What could be read is returned also beside faults.
func Parse(doc []byte) (Document, []Fault) {
	d, faults := parse(doc)
	return d, listed(faults)
}

// listed returns faults by their lines, and of too many the first.
func listed(faults []Fault) []Fault {
	sorted.By(faults, func(a, b Fault) int { return a.Line - b.Line })
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults:maxFaults], Fault{Line: 0, Says: fmt.Sprintf("it has %d more faults", more)})
	}
	return faults
}

func parse(doc []byte) (Document, []Fault) {
	var p reader
	switch {
	case len(doc) == 0:
		p.add(0, "it is empty, or larger than %d bytes", maxDocument)
		return p.doc, p.out
	case len(doc) > maxDocument:
		p.add(0, "it has %d bytes; at most %d are read", len(doc), maxDocument)
		return p.doc, p.out
	case !utf8.Valid(doc):
		p.add(0, "it is not valid UTF-8")
		return p.doc, p.out
	}
	head, rest, err := document.Front(doc)
	switch {
	case errors.Is(err, document.ErrNoFront):
		p.add(1, "it has no front matter: lines with --- before and after its nodes")
		return p.doc, p.out
	case err != nil:
		p.add(1, "%s", err)
		return p.doc, p.out
	}
	p.front(head)
	p.sections(rest, 3+strings.Count(head, "\n"))
	return p.doc, p.out
}

// Read returns all faults that are known of a document. If its nodes cannot be
// read, those of Parse.
func Read(doc []byte, b Bounds) (Document, []Fault) {
	d, faults := parse(doc)
	if len(faults) == 0 || len(d.Nodes) > 0 {
		faults = append(faults, d.check(b)...)
	}
	return d, listed(faults)
}

// reader reads one document.
type reader struct {
	doc Document
	out []Fault
}

func (p *reader) add(line int, format string, args ...any) {
	p.out = append(p.out, Fault{Line: line, Says: fmt.Sprintf(format, args...)})
}

// front reads the front matter.
func (p *reader) front(head string) {
	top, fault := document.ReadFront(head, bounds)
	if fault != nil {
		p.out = append(p.out, *fault)
		return
	}
	p.mapping(top, "the front matter", func(k document.Key) bool {
		switch k.Name {
		case keyIssue:
			issue, err := strconv.Atoi(p.scalar(k.Value, "issue"))
			if err != nil || issue <= 0 {
				p.add(k.Line, "issue is not the number of an issue")
				return true
			}
			p.doc.Issue = issue
		case keyNodes:
			p.nodes(k.Value, k.Line)
		default:
			return false
		}
		return true
	})
}

// mapping reads a mapping. read reports whether it knows the key.
func (p *reader) mapping(v document.Value, what string, read func(document.Key) bool) {
	if v.Kind != document.Mapping {
		p.add(v.Line, "%s is %s, and should be keys with values", what, v.Kind)
		return
	}
	for _, k := range v.Keys {
		if k.Name != "" && !read(k) {
			p.add(k.Line, "%s has the unknown key %q", what, shown(k.Name))
		}
	}
}

// scalar reads a text, as it is written: 01 is not 1. Empty: it is none, which is a fault unless the
// value is empty.
func (p *reader) scalar(v document.Value, what string) string {
	if v.Kind != document.Empty && v.Kind != document.Text {
		p.add(v.Line, "%s is %s, and should be a text", what, v.Kind)
	}
	return v.Text
}

// sequence returns the entries of a list; none for an empty value.
func (p *reader) sequence(v document.Value, line int, what string) []document.Value {
	if v.Kind != document.Empty && v.Kind != document.List {
		p.add(line, "%s is %s, and should be a list", what, v.Kind)
	}
	return v.List
}

// nodes reads the list of nodes. More than an issue can have are not read.
func (p *reader) nodes(v document.Value, line int) {
	all := p.sequence(v, line, keyNodes)
	if len(all) > MaxSubIssues {
		p.add(line, "it has %d nodes; an issue has at most %d sub-issues", len(all), MaxSubIssues)
		all = all[:MaxSubIssues]
	}
	for i, entry := range all {
		p.doc.Nodes = append(p.doc.Nodes, p.node(entry, i))
	}
}

func (p *reader) node(v document.Value, at int) Node {
	out := Node{Line: v.Line}
	what := fmt.Sprintf("entry %d of nodes", at+1)
	p.mapping(v, what, func(k document.Key) bool {
		switch k.Name {
		case keyID:
			out.ID = p.scalar(k.Value, what+": id")
		case keyTitle:
			out.Title = strings.TrimSpace(p.scalar(k.Value, what+": title"))
		case keyFlow:
			out.Flow = work.Flow(p.scalar(k.Value, what+": flow"))
		case keyIssue:
			issue, err := strconv.Atoi(p.scalar(k.Value, what+": issue"))
			if err != nil || issue <= 0 {
				p.add(k.Line, "%s: issue is not the number of an issue", what)
				return true
			}
			out.Issue = issue
		case keyNeeds:
			for _, need := range p.sequence(k.Value, k.Line, what+": needs") {
				if id := p.scalar(need, what+": an entry of needs"); id != "" {
					out.Needs = append(out.Needs, id)
				}
			}
		default:
			return false
		}
		return true
	})
	return out
}

// sections reads title, goal and sections from the text below the front matter, whose first line is
// line first of the document.
func (p *reader) sections(rest string, first int) {
	lines := document.Lines(rest)
	var tops []document.Heading
	for _, h := range document.Headings(lines) {
		if h.Level <= 2 {
			tops = append(tops, h)
		}
	}
	from, begun, in := 0, false, ""
	for i, h := range tops {
		end := len(lines)
		if i+1 < len(tops) {
			end = tops[i+1].First
		}
		id := strings.Trim(strings.TrimSpace(h.Text), "`")
		at := slices.IndexFunc(p.doc.Nodes, func(n Node) bool { return n.ID == id && id != "" })
		switch {
		case h.Level == 1 && !begun && p.doc.Title == "":
			p.doc.Title, from = strings.TrimSpace(h.Text), h.End
		case h.Level == 2 && at >= 0 && p.doc.Nodes[at].section > 0:
			p.add(first+h.First, "%s has a second section; its first one is on line %d", p.doc.Nodes[at].name(), p.doc.Nodes[at].section)
		case h.Level == 2 && at >= 0:
			if !begun {
				p.goal(lines[from:h.First])
			}
			begun, in = true, id
			p.section(&p.doc.Nodes[at], lines, h, end, first)
		case begun:
			p.add(first+h.First, "the heading %q below the section of node %q is the id of no node; inside a section write ### or deeper", shown(h.Text), in)
		}
	}
	if !begun {
		p.goal(lines[from:])
	}
}

func (p *reader) goal(lines []string) { p.doc.Goal = strings.TrimSpace(strings.Join(lines, "\n")) }

// section sets a node's text to the lines below its heading.
func (p *reader) section(n *Node, lines []string, h document.Heading, end, first int) {
	at := h.End
	for at < end && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	n.Text = strings.TrimRight(strings.Join(lines[at:end], "\n"), "\n \t")
	n.section, n.text = first+h.First, first+at
}

// Render writes a document, which Parse reads back.
func Render(d Document) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	if d.Issue > 0 {
		fmt.Fprintf(&b, "%s: %d\n", keyIssue, d.Issue)
	}
	b.WriteString(keyNodes + ":")
	if len(d.Nodes) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, n := range d.Nodes {
		needs := make([]string, 0, len(n.Needs))
		for _, need := range n.Needs {
			needs = append(needs, plainOr(need))
		}
		fmt.Fprintf(&b, "  - %s: %s\n    %s: %s\n    %s: %s\n    %s: [%s]\n", keyID, plainOr(n.ID), keyTitle, document.Scalar(n.Title),
			keyFlow, plainOr(string(n.Flow)), keyNeeds, strings.Join(needs, ", "))
		if n.Issue != 0 {
			fmt.Fprintf(&b, "    %s: %d\n", keyIssue, n.Issue)
		}
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n%s\n", d.Title, strings.TrimSpace(d.Goal))
	for _, n := range d.Nodes {
		if n.Issue == 0 || n.Text != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", n.ID, strings.TrimSpace(n.Text))
		}
	}
	return []byte(b.String())
}

// plainOr returns a word as people write it, quoted if YAML could read anything else.
func plainOr(s string) string {
	if plainWord().MatchString(s) && !slices.Contains([]string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}, s) {
		return s
	}
	return document.Scalar(s)
}

var plainWord = lazy.Regexp(`^[a-z][a-z0-9_-]*$`)
