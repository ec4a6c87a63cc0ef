package roadmap

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// maxDocument bounds a document, in bytes: GitHub's API returns no larger file.
const maxDocument = 1 << 20

// maxFaults bounds the faults that are listed: people mend some, and see the rest then.
const maxFaults = 50

// maxNesting is how deep brackets, and lists on one line, may be nested in the front matter. Nodes need three.
const maxNesting = 8

// maxLines bounds the front matter: the nodes that an issue can have, each with five lines and all its needs.
const maxLines = MaxSubIssues * (5 + MaxEdges)

// maxOnOneLine is how many marks of lists and keys one line may have; a title may have some.
const maxOnOneLine = 64

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
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults:maxFaults], Fault{0, fmt.Sprintf("it has %d more faults", more)})
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

// reader reads one document. Its YAML is read by hand, so that each fault has its line, and nothing
// of YAML is taken that people could read in two ways: no anchors, aliases, tags and merges.
type reader struct {
	doc Document
	out []Fault
}

func (p *reader) add(line int, format string, args ...any) {
	p.out = append(p.out, Fault{line, fmt.Sprintf(format, args...)})
}

// front reads the front matter, which begins on line 2.
func (p *reader) front(head string) {
	for i, line := range strings.Split(head, "\n") {
		switch {
		case strings.HasPrefix(line, "\t"):
			p.add(i+2, "it begins with a tab; YAML takes spaces only")
			return
		case strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) >= 0:
			p.add(i+2, "it has a control character")
			return
		}
	}
	if line := deep(head); line > 0 {
		p.add(line+1, "brackets or lists are nested more than %d deep", maxNesting)
		return
	}
	if n := strings.Count(head, "\n"); n > maxLines {
		p.add(2, "its front matter has %d lines; at most %d are read", n, maxLines)
		return
	}
	file, err := parser.ParseBytes([]byte(head), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p.yamlError(err)
		return
	}
	for _, d := range file.Docs {
		if d.Body != nil {
			p.top(d.Body)
		}
	}
}

// deep returns the line, from 1, on which brackets, or lists that begin on one line, are nested too
// deep; 0: on none. Those in quotes count too, of which no front matter needs so many.
func deep(head string) int {
	open := 0
	for i, line := range strings.Split(head, "\n") {
		if strings.Count(line, "- ")+strings.Count(line, "? ")+strings.Count(line, "-\t")+strings.Count(line, "?\t") > maxOnOneLine {
			return i + 1
		}
		for _, r := range line {
			switch r {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			}
			if open > maxNesting {
				return i + 1
			}
		}
	}
	return 0
}

// yamlError adds the fault of YAML that cannot be parsed.
func (p *reader) yamlError(err error) {
	line := 1
	says := err.Error()
	if syntax, ok := errors.AsType[*yaml.SyntaxError](err); ok {
		says = syntax.Message
		if syntax.Token != nil && syntax.Token.Position != nil {
			line = syntax.Token.Position.Line
		}
	}
	says, _, _ = strings.Cut(says, "\n")
	p.add(line+1, "its front matter is no YAML: %s", shownLong(says))
}

// shownLong returns a text of another program in one bounded line.
func shownLong(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

// lineOf returns the line of a node of the front matter in the document.
func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 2
	}
	return n.GetToken().Position.Line + 1
}

// top reads the mapping of the front matter.
func (p *reader) top(n ast.Node) {
	p.mapping(n, "the front matter", func(key string, line int, value ast.Node) bool {
		switch key {
		case keyIssue:
			issue, err := strconv.Atoi(p.scalar(value, "issue"))
			if err != nil || issue <= 0 {
				p.add(line, "issue is not the number of an issue")
				return true
			}
			p.doc.Issue = issue
		case keyNodes:
			p.nodes(value, line)
		default:
			return false
		}
		return true
	})
}

// mapping reads a mapping. read reports whether it knows the key.
func (p *reader) mapping(n ast.Node, what string, read func(key string, line int, value ast.Node) bool) {
	m, ok := n.(ast.MapNode)
	if !ok {
		p.add(lineOf(n), "%s is %s, and should be keys with values", what, kindOf(n))
		return
	}
	seen := map[string]int{}
	for it := m.MapRange(); it.Next(); {
		key := it.Key()
		line := lineOf(key)
		if key.IsMergeKey() {
			p.add(line, "%s merges another mapping with <<; write its keys out", what)
			continue
		}
		name := p.scalar(key, "a key of "+what)
		if name == "" {
			continue
		}
		if first, twice := seen[name]; twice {
			p.add(line, "%s has the key %q twice, first on line %d", what, shown(name), first)
			continue
		}
		seen[name] = line
		if !read(name, line, it.Value()) {
			p.add(line, "%s has the unknown key %q", what, shown(name))
		}
	}
}

// kindOf names the kind of a YAML value.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "empty"
	case *ast.SequenceNode:
		return "a list"
	case ast.MapNode:
		return "a mapping"
	case *ast.AnchorNode:
		return "a YAML anchor (&)"
	case *ast.AliasNode:
		return "a YAML alias (*)"
	case *ast.TagNode:
		return "a YAML tag (!)"
	}
	return "a text"
}

// scalar reads a text, as it is written: 01 is not 1. Empty: it is none, which is a fault unless the
// value is empty.
func (p *reader) scalar(n ast.Node, what string) string {
	switch v := n.(type) {
	case *ast.NullNode:
		return ""
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return strings.TrimRight(v.Value.Value, "\n")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	case *ast.MappingKeyNode:
		return p.scalar(v.Value, what)
	}
	p.add(lineOf(n), "%s is %s, and should be a text", what, kindOf(n))
	return ""
}

// sequence returns the entries of a list; none for an empty value.
func (p *reader) sequence(n ast.Node, line int, what string) []ast.Node {
	switch v := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.SequenceNode:
		return v.Values
	}
	p.add(line, "%s is %s, and should be a list", what, kindOf(n))
	return nil
}

// nodes reads the list of nodes. More than an issue can have are not read.
func (p *reader) nodes(n ast.Node, line int) {
	all := p.sequence(n, line, keyNodes)
	if len(all) > MaxSubIssues {
		p.add(line, "it has %d nodes; an issue has at most %d sub-issues", len(all), MaxSubIssues)
		all = all[:MaxSubIssues]
	}
	for i, entry := range all {
		p.doc.Nodes = append(p.doc.Nodes, p.node(entry, i))
	}
}

func (p *reader) node(n ast.Node, at int) Node {
	out := Node{Line: firstLine(n)}
	what := fmt.Sprintf("entry %d of nodes", at+1)
	p.mapping(n, what, func(key string, line int, value ast.Node) bool {
		switch key {
		case keyID:
			out.ID = p.scalar(value, what+": id")
		case keyTitle:
			out.Title = strings.TrimSpace(p.scalar(value, what+": title"))
		case keyFlow:
			out.Flow = work.Flow(p.scalar(value, what+": flow"))
		case keyNeeds:
			for _, need := range p.sequence(value, line, what+": needs") {
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

// firstLine returns the line on which an entry of a list begins: that of its first key.
func firstLine(n ast.Node) int {
	if m, ok := n.(ast.MapNode); ok {
		if it := m.MapRange(); it.Next() {
			return lineOf(it.Key())
		}
	}
	return lineOf(n)
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
	}
	fmt.Fprintf(&b, "---\n\n# %s\n\n%s\n", d.Title, strings.TrimSpace(d.Goal))
	for _, n := range d.Nodes {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", n.ID, strings.TrimSpace(n.Text))
	}
	return []byte(b.String())
}

// plainOr returns a word as people write it, quoted if YAML could read anything else.
func plainOr(s string) string {
	if t := token.New(s, s, &token.Position{}); nodeID().MatchString(strings.ReplaceAll(s, "_", "-")) && t.Type == token.StringType {
		return s
	}
	return document.Scalar(s)
}
