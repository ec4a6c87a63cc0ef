package roadmap

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

const good = `---
issue: 7
nodes:
  - id: parser
    title: "Parse: the file"
    flow: small_job
  - {id: reader, title: Read it, flow: design, needs: [parser]}
  - id: "writer"
    title: 'Write it'
    flow: bugfix
    needs:
      - parser
      - reader
---

# Files

Files are read and written.

## Not part of it

Printing.

## parser

### Goal

A file is parsed.

### Scope

One package.

` + "```md\n## reader\nas above\n```" + `

### Acceptance criteria

- It parses.

### How it is tested

By a table.

## ` + "`reader`" + `

Goal: read.
**Scope**: one package.
- Acceptance: it reads.
- **Tests:** a table.

writer
------

**Goal**

Write.

**Scope**

One package.

**Acceptance**

It writes.

**Test plan**

A table.
`

// both returns the faults of reading and of checking.
func both(doc string, b Bounds) []Fault {
	_, faults := Read([]byte(doc), b)
	return faults
}

func TestADocumentIsRead(t *testing.T) {
	for _, doc := range []string{good, "\uFEFF" + good, strings.ReplaceAll(good, "\n", "\r\n")} {
		d, faults := Parse([]byte(doc))
		if faults = append(faults, d.check(Bounds{Depth: 1})...); len(faults) > 0 {
			t.Fatal(document.Strings(faults))
		}
		if d.Issue != 7 || d.Title != "Files" || !strings.HasPrefix(d.Goal, "Files are") || !strings.HasSuffix(d.Goal, "Printing.") || len(d.Nodes) != 3 {
			t.Errorf("got %+v", d)
		}
		if n := d.Nodes[0]; n.ID != "parser" || n.Title != "Parse: the file" || n.Flow != work.FlowSmallJob || n.Line != 4 ||
			!strings.HasPrefix(n.Text, "### Goal") || !strings.HasSuffix(n.Text, "By a table.") {
			t.Errorf("got %+v", n)
		}
		if n := d.Nodes[2]; !slices.Equal(n.Needs, []string{"parser", "reader"}) || n.Line != 8 || !strings.HasPrefix(n.Text, "**Goal**") {
			t.Errorf("got %+v", n)
		}
	}
}

const section = "Goal: x.\nScope: x.\nAcceptance: x.\nTests: x.\n"

// entry is a node of the front matter in one line.
func entry(id, more string) string {
	return fmt.Sprintf("  - {id: %s, title: T, flow: bugfix%s}\n", id, more)
}

// made joins entries and sections into a document whose entries begin on line 3.
func made(entries, sections string) string {
	return "---\nnodes:\n" + entries + "---\n\n# Title\n\nThe goal.\n\n" + sections
}

func chain(n int, needs func(i int) string) string {
	var entries, sections strings.Builder
	for i := range n {
		entries.WriteString(entry(fmt.Sprintf("n%d", i), needs(i)))
		fmt.Fprintf(&sections, "## n%d\n%s\n", i, section)
	}
	return made(entries.String(), sections.String())
}

func alone(int) string { return "" }

func listOf(n int) string {
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("n%d", i))
	}
	return strings.Join(ids, ", ")
}

// TestEachFaultHasItsLine: one bad document each, and the words that name the fault.
func TestEachFaultHasItsLine(t *testing.T) {
	a := "## a\n" + section
	tests := []struct {
		name, doc string
		line      int
		says      string
	}{
		{"empty", "", 0, "is empty, or larger"},
		{"no front matter", "# Title\n", 1, "no front matter"},
		{"front matter without end", "---\nnodes: []\n# Title\n", 1, "no front matter"},
		{"front matter is a text", "---\nhello\n---\n# T\n\nGoal.\n", 2, "is a text, and should be keys"},
		{"front matter is a list", "---\n- a\n---\n# T\n\nGoal.\n", 2, "is a list, and should be keys"},
		{"no YAML", "---\nnodes: [\n---\n# T\n", 2, "no YAML"},
		{"a tab", "---\nnodes:\n\t- id: a\n---\n# T\n", 3, "begins with a tab"},
		{"a control character", "---\nnodes: \"\x01\"\n---\n# T\n", 2, "control character"},
		{"no UTF-8", "---\nnodes: \xff\n---\n", 0, "UTF-8"},
		{"too long", strings.Repeat("a", maxDocument+1), 0, "bytes"},
		{"front matter too long", "---\n" + strings.Repeat("# aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 10000) + "---\n", 1, "longer than"},
		{"brackets", "---\nnodes:\n " + strings.Repeat("[", 100000) + "\n---\n", 3, "nested more than 4 deep"},
		{"an anchor", made("  - &x {id: a, title: T, flow: bugfix}\n", a), 3, "anchor"},
		{"an alias", made("  - {id: a, title: T, flow: bugfix}\n  - *x\n", a), 4, "alias"},
		{"a tag", made("  - {id: !!str a, title: T, flow: bugfix}\n", a), 3, "tag"},
		{"a merge", made("  - <<: {id: a}\n    title: T\n", a), 3, "merges"},
		{"a key twice", made("  - id: a\n    title: T\n    title: U\n    flow: bugfix\n", a), 5, "\"title\" twice, first on line 4"},
		{"nodes twice", "---\nnodes: []\nnodes: []\n---\n# T\n\nG.\n", 3, "\"nodes\" twice"},
		{"an unknown key", made(entry("a", ", need: [b]"), a), 3, "unknown key \"need\""},
		{"an unknown key above", "---\nnode: []\n---\n# T\n\nG.\n", 2, "unknown key \"node\""},
		{"nodes is a text", "---\nnodes: all\n---\n# T\n\nG.\n", 2, "should be a list"},
		{"a node is a text", made("  - a\n", a), 3, "entry 1 of nodes is a text"},
		{"needs is a text", made(entry("a", ", needs: b"), a), 3, "needs is a text, and should be a list"},
		{"the id is a list", made("  - id: [a]\n    title: T\n    flow: bugfix\n", a), 3, "id is a list"},
		{"issue is a text", "---\nissue: seven\nnodes: []\n---\n# T\n\nG.\n", 2, "number of an issue"},
		{"two sections of one id", made(entry("a", ""), a+a), 15, "second section; its first one is on line 10"},
		{"a section of no node", made(entry("a", ""), a+"## b\n"+section), 15, "\"b\" below the section of node \"a\" is the id of no node"},
		{"a heading too high", made(entry("a", ""), "## a\n"+section+"\n# Scope\n"), 16, "write ### or deeper"},

		{"no node", "---\nnodes: []\n---\n# T\n\nG.\n", 0, "no node"},
		{"no title", "---\nnodes:\n" + entry("a", "") + "---\nThe goal.\n\n" + a, 0, "no title"},
		{"no goal", "---\nnodes:\n" + entry("a", "") + "---\n# T\n\n" + a, 0, "no goal"},
		{"no id", made("  - title: T\n    flow: bugfix\n", ""), 3, "no id"},
		{"an odd id", made(entry("A_b", ""), "## A_b\n"+section), 3, "not made of a-z"},
		{"a hostile id", made(entry("\"../x\\n<!--\"", ""), ""), 3, "not made of a-z"},
		{"a long id", made(entry(strings.Repeat("a", 41), ""), ""), 3, "at most 40 characters"},
		{"one id twice", made(entry("a", "")+entry("a", ""), a), 4, "that of another node"},
		{"no title of a node", made("  - id: a\n    flow: bugfix\n", a), 3, "has no title"},
		{"a title of two lines", made("  - {id: a, title: \"T\\nU\", flow: bugfix}\n", a), 3, "more than one line"},
		{"a long title", made("  - {id: a, title: "+strings.Repeat("a", 257)+", flow: bugfix}\n", a), 3, "GitHub takes 256"},
		{"no flow", made("  - {id: a, title: T}\n", a), 3, "has no flow"},
		{"an unknown flow", made("  - {id: a, title: T, flow: small-job}\n", a), 3, "none of design, bugfix, small_job, roadmap"},
		{"an unknown need", made(entry("a", ", needs: [b]"), a), 3, "needs \"b\", which is the id of no node"},
		{"a need twice", made(entry("a", ", needs: [b, b]")+entry("b", ""), a+"## b\n"+section), 3, "needs \"b\" twice"},
		{"a node that needs itself", made(entry("a", ", needs: [a]"), a), 3, "circle: a needs a"},
		{"a circle", made(entry("z", "")+entry("a", ", needs: [b]")+entry("b", ", needs: [c]")+entry("c", ", needs: [a]"), a), 4, "circle: a needs b needs c needs a"},
		{"too many nodes", chain(101, alone), 2, "101 nodes"},
		{"too many needs", chain(52, func(i int) string {
			if i < 51 {
				return ""
			}
			return ", needs: [" + listOf(51) + "]"
		}), 54, "needs 51 nodes"},
		{"needed by too many", chain(52, func(i int) string {
			if i == 0 {
				return ""
			}
			return ", needs: [n0]"
		}), 3, "needed by 51 nodes"},
		{"no section", made(entry("a", ""), "Text.\n"), 3, "no section with text"},
		{"a section in code", made(entry("a", ""), "```\n"+a+"```\n"), 3, "no section with text"},
		{"an empty section", made(entry("a", ""), "## a\n\n"), 3, "no section with text"},
		{"a section without acceptance", made(entry("a", ""), "## a\n\n### Goal\nx\n### Scope\nx\n### Acceptance\n### Tests\nx\n"), 10, "does not say its acceptance"},
		{"a section without tests", made(entry("a", ""), "## a\n\nGoal: x.\nScope: x.\nAcceptance: x.\n"), 10, "does not say its tests"},
		{"words that point out", made(entry("a", ""), "## a\n\n"+section+"\nIt works as described above.\n"), 17, "\"described above\" points out"},
		{"another section", made(entry("a", ""), "## a\n\n"+section+"Do it like the previous node.\n"), 16, "\"previous node\" points out"},
		{"a link to a section", made(entry("a", ""), "## a\n"+section+"[b](#b)\n"), 15, "points out"},
		{"a relative link", made(entry("a", ""), "## a\n"+section+"[b](../design/1-x.md)\n"), 15, "points out"},
		{"a control character in a title", made("  - {id: a, title: \"T\\x07\", flow: bugfix}\n", a), 3, "its title has the character U+0007"},
		{"a title that turns its direction", made("  - {id: a, title: \"T \u202Eread\", flow: bugfix}\n", a), 3, "U+202E"},
		{"a separator in a title", made("  - {id: a, title: \"T\\u2028U\", flow: bugfix}\n", a), 3, "U+2028"},
		{"a title of two lines", made("  - {id: a, title: \"T\\nU\", flow: bugfix}\n", a), 3, "more than one line"},
		{"a section that turns its direction", made(entry("a", ""), a+"Read \u2066this.\n"), 15, "its section has the character U+2066"},
		{"a control character in a section", made(entry("a", ""), a+"\x1b[2J\n"), 15, "its section has the character U+001B"},
		{"a goal with a control character", strings.Replace(made(entry("a", ""), a), "The goal.", "The\x07 goal.", 1), 0, "U+0007"},
		{"lists in lists on one line", "---\nnodes:\n" + strings.Repeat("- ", 100000) + "\n---\n", 3, "nested more than 4 deep"},
		{"ten thousand nodes", "---\nnodes:\n" + strings.Repeat("- {id: a}\n", 10000) + "---\n", 1003, "more than 1000 entries"},
		{"more faults than people read", "---\nnodes:\n" + strings.Repeat("- {id: A, x: 1}\n", 90) + "---\n", 0, "more faults"},
		{"aliases of aliases", "---\na: &a [x, x]\nb: &b [*a, *a]\nnodes: [*b, *b, *b]\n---\n", 2, "anchor"},
		{"a long section", made(entry("a", ""), a+strings.Repeat("a ", 30001)), 10, "fit into an issue"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			faults := both(tt.doc, Bounds{Depth: 1})
			if !slices.ContainsFunc(faults, func(f Fault) bool { return f.Line == tt.line && strings.Contains(f.Says, tt.says) }) {
				t.Errorf("no fault on line %d says %q:\n%s", tt.line, tt.says, strings.Join(document.Strings(faults), "\n"))
			}
			for _, f := range faults {
				if strings.ContainsAny(f.Says, "\n\r") || len(f.Says) > 600 {
					t.Errorf("a fault is not one short line: %q", f.Says)
				}
			}
		})
	}
}

func TestTheBoundsOfTheIssue(t *testing.T) {
	deeper := strings.Replace(good, "flow: bugfix", "flow: roadmap", 1)
	tests := []struct {
		doc    string
		bounds Bounds
		says   string // empty: no fault
	}{
		{good, Bounds{}, ""},
		{good, Bounds{Depth: 3, SubIssues: 97}, ""},
		{good, Bounds{Depth: 1, SubIssues: 98}, "98 sub-issues beside them"},
		{good, Bounds{Depth: 4}, "nested at most 3"},
		{deeper, Bounds{Depth: 2}, ""},
		{good, Bounds{Depth: 1, NoEdges: true}, `line 7: node "reader" needs others, and this host has no dependencies`},
		{chain(3, alone), Bounds{Depth: 1, NoEdges: true}, ""},
		{deeper, Bounds{Depth: 3}, `line 8: node "writer" is a roadmap`},
		{chain(100, alone), Bounds{Depth: 1}, ""},
		{chain(51, func(i int) string {
			if i < 50 {
				return ""
			}
			return ", needs: [" + listOf(50) + "]"
		}), Bounds{Depth: 1}, ""},
	}
	for i, tt := range tests {
		got := strings.Join(document.Strings(both(tt.doc, tt.bounds)), "\n")
		if (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%d: %q, want %q", i, got, tt.says)
		}
	}
}

func TestRemarks(t *testing.T) {
	row := func(i int) string {
		if i == 0 {
			return ""
		}
		return fmt.Sprintf(", needs: [n%d]", i-1)
	}
	for _, tt := range []struct {
		doc  string
		want []string // a word of each
	}{
		{chain(7, alone), nil},
		{chain(8, alone), []string{"two roadmaps"}},
		{chain(1, alone), []string{"one node"}},
		{chain(2, row), nil},
		{chain(8, row), []string{"two roadmaps", "side by side"}},
		{good, []string{"side by side"}},
	} {
		d, _ := Parse([]byte(tt.doc))
		got := d.Remarks()
		if len(got) != len(tt.want) {
			t.Errorf("%d nodes: %q, want %q", len(d.Nodes), got, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%d nodes: %q, want %q", len(d.Nodes), got[i], want)
			}
		}
	}
}

func TestPath(t *testing.T) {
	path := work.DocumentPath(work.FlowRoadmap, 7, "Read & write files")
	if path != "docs/roadmap/7-read-write-files.md" || !IsPath(path, 7) || IsPath(path, 8) || IsPath("docs/design/7-a.md", 7) || work.IsDocument(work.FlowDesign, path, 7) {
		t.Error(path)
	}
}

// aNode draws a node that may need earlier ones, or any if wild.
func aNode(t *rapid.T, at int, wild bool) Node {
	n := Node{
		ID: fmt.Sprintf("n%d", at), Title: strings.Join(strings.Fields(rapid.StringMatching(`[ -~äß…"':#]{1,40}x`).Draw(t, "title")), " "),
		Flow: rapid.SampledFrom(Flows()).Draw(t, "flow"), Text: section + rapid.SampledFrom([]string{"", "\n```\n## n1\n```", "\n### More\n\n- a\n  b", "\n    # code"}).Draw(t, "more"),
	}
	n.Text = strings.TrimSpace(n.Text)
	most := at - 1
	if wild {
		most = 12
	}
	for i := range most + 1 {
		if rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
			n.Needs = append(n.Needs, fmt.Sprintf("n%d", i))
		}
	}
	return n
}

func nodesOf(t *rapid.T, wild bool) []Node {
	var out []Node
	for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
		out = append(out, aNode(t, i, wild))
	}
	return out
}

// TestOrderIsTopological: also of nodes in any order; what has no order is kept whole.
func TestOrderIsTopological(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wild := rapid.Bool().Draw(t, "wild")
		nodes := rapid.Permutation(nodesOf(t, wild)).Draw(t, "order")
		got := Order(nodes)
		at := map[string]int{}
		for i, n := range got {
			at[n.ID] = i
		}
		if len(got) != len(nodes) || len(at) != len(nodes) {
			t.Fatalf("%d nodes of %d", len(got), len(nodes))
		}
		way := circle(nodes)
		for i, n := range got {
			for _, need := range n.Needs {
				if j, ok := at[need]; ok && j >= i && way == nil {
					t.Fatalf("%s comes before %s, which it needs", n.ID, need)
				}
			}
		}
		if !wild && way != nil {
			t.Fatalf("a circle: %v", way)
		}
		for i := 1; i < len(way); i++ {
			if n := nodes[slices.IndexFunc(nodes, func(n Node) bool { return n.ID == way[i-1] })]; !slices.Contains(n.Needs, way[i]) {
				t.Fatalf("%v is no circle", way)
			}
		}
		if again := Order(got); way == nil && !reflect.DeepEqual(again, got) {
			t.Fatal("an order is ordered in another way")
		}
	})
}

// TestWhatIsWrittenIsRead: and has no fault.
func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Document{Issue: rapid.IntRange(0, 9).Draw(t, "issue"), Title: "The title", Goal: "A goal.\n\n### With a part\n\n- a", Nodes: nodesOf(t, false)}
		got, faults := Parse(Render(d))
		faults = append(faults, got.check(Bounds{Depth: 1})...)
		if len(faults) > 0 {
			t.Fatalf("%s\n%s", document.Strings(faults), Render(d))
		}
		for i := range got.Nodes {
			got.Nodes[i].Line, got.Nodes[i].section, got.Nodes[i].text = 0, 0, 0
		}
		if !reflect.DeepEqual(got, d) {
			t.Fatalf("got %+v\nfrom %s", got, Render(d))
		}
	})
}

// TestNothingPanics: whatever is written, and within a bounded time.
func TestNothingPanics(t *testing.T) {
	pieces := []string{
		"---\n", "nodes:\n", "  - id: a\n", "    title: T\n", "    flow: bugfix\n", "    needs: [a, b]\n", "  - {id: b, title: T, flow: design}\n", "# T\n", "## a\n", "## b\n", "### c\n",
		"```\n", "~~~\n", "a\n---\n", "&x ", "*x\n", "<<: *x\n", "? ", ": ", "- ", "| \n", ">-\n", "{", "}", "[", "]", ",", "\t", "\r\n", "\"", "'", "!!binary ", "%YAML 1.2\n", "...\n", "#", "\n", "  ", "\u0000", "é", "\uFEFF", section,
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "front") {
			doc = "---\n" + doc
		}
		began := time.Now()
		d, faults := Parse([]byte(doc))
		faults = append(faults, d.check(Bounds{Depth: 1})...)
		d.Remarks()
		if lines := 1 + strings.Count(work.Normalise(doc), "\n"); slices.ContainsFunc(faults, func(f Fault) bool { return f.Line < 0 || f.Line > lines }) {
			t.Fatalf("a fault is outside of %d lines: %s", lines, document.Strings(faults))
		}
		if took := time.Since(began); took > time.Minute {
			t.Fatalf("took %s", took)
		}
	})
}

// The faults of any document are few and short, on lines of the document, and found in a bounded time.
func FuzzRead(f *testing.F) {
	for _, doc := range []string{
		good, "\uFEFF" + good, strings.ReplaceAll(good, "\n", "\r\n"), "\xff\xfe" + good,
		"---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nnodes: [*c]\n---\n",
		"---\nnodes: []\nnodes: []\n---\n", "---\nnodes:\n" + strings.Repeat("- ", 200) + "\n---\n",
		"---\nnodes:\n" + strings.Repeat("- {id: a}\n", 200) + "---\n", made(entry("a", ", needs: [a]"), "## a\n"+strings.Repeat("x", 70000)),
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if len(doc) > 1<<17 {
			return
		}
		began := time.Now()
		_, faults := Read(doc, Bounds{Depth: 1})
		if took := time.Since(began); took > time.Minute || len(faults) > maxFaults+1 {
			t.Fatalf("%d faults took %s", len(faults), took)
		}
		for _, fault := range faults {
			if strings.ContainsAny(fault.Says, "\n\r") || len(fault.Says) > 8000 || fault.Line > 1+strings.Count(work.Normalise(string(doc)), "\n") {
				t.Fatalf("a fault is not one bounded line of the document: %v", fault)
			}
		}
	})
}
