// Package roadmap reads, checks and writes the document of a roadmap: an issue that is done by many,
// each of which is a sub-issue of its own. It is pure.
package roadmap

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// Node is one entry of a roadmap, which becomes a sub-issue.
type Node struct {
	ID    string
	Title string
	Flow  work.Flow
	Needs []string // ids of nodes that must be done before
	Issue int      // number of the sub-issue that it adopts as it is; 0: one is opened
	Text  string   // its section, without the heading: the text of the sub-issue
	Line  int      // where its entry begins in the document

	section, text int // lines of its section's heading and of Text; 0: it has none
}

// Document is a roadmap's document.
type Document struct {
	Issue int // as its front matter says; 0: it does not
	Title string
	Goal  string // the text above the first section
	Nodes []Node
}

// Node returns the node with an id.
func (d Document) Node(id string) (Node, bool) {
	if i := slices.IndexFunc(d.Nodes, func(n Node) bool { return n.ID == id }); i >= 0 {
		return d.Nodes[i], true
	}
	return Node{}, false
}

// Fault is why a document cannot be unfolded. Says names the node.
type Fault = document.Fault

// Bounds are the facts about the roadmap's issue that bound its document.
type Bounds struct {
	Depth     int  // 1: its issue is the sub-issue of no roadmap; 2: of one; …
	SubIssues int  // how many sub-issues it has that are no node of the document, closed ones too
	NoEdges   bool // its host has no dependencies between issues
	Present   []Present
}

// Limits of a roadmap. GitHub takes 100 sub-issues of an issue, and 50 issues that block another or
// are blocked by it.
const (
	MaxDepth     = 3
	MaxSubIssues = 100
	MaxEdges     = 50
)

// manyNodes is the number of nodes above which a remark asks for two roadmaps.
const manyNodes = 7

// Flows lists the flows that a node may have.
func Flows() []work.Flow {
	return []work.Flow{work.FlowDesign, work.FlowBugfix, work.FlowSmallJob, work.FlowRoadmap}
}

// IsPath reports whether a path is the document of an issue's roadmap, with any title.
func IsPath(path string, issue int) bool { return work.IsDocument(work.FlowRoadmap, path, issue) }

// Remarks returns what a reviewer should think about, although it is no fault.
func (d Document) Remarks() []string {
	var out []string
	switch n := len(d.Nodes); {
	case n > manyNodes:
		out = append(out, fmt.Sprintf("It has %d nodes. Would two roadmaps do, the second begun once the first has shown what it needs?", n))
	case n == 1:
		out = append(out, "It has one node. The label of its flow on the issue would do.")
	}
	if n := len(d.Nodes); n > 2 && longestPath(d.Nodes) == n {
		out = append(out, "Each node waits for another: nothing is done side by side. Must it be so?")
	}
	return out
}

// longestPath returns the number of nodes on the longest path of nodes that wait for each other.
func longestPath(nodes []Node) int {
	longest, most := map[string]int{}, 0
	for _, n := range Order(nodes) {
		at := 0
		for _, need := range n.Needs {
			at = max(at, longest[need])
		}
		longest[n.ID] = at + 1
		most = max(most, at+1)
	}
	return most
}

// Order returns the nodes so that each comes after those that it needs, otherwise in the order in
// which they are. Nodes of a circle come last.
func Order(nodes []Node) []Node {
	out := make([]Node, 0, len(nodes))
	known, placed := map[string]bool{}, map[string]bool{}
	for _, n := range nodes {
		known[n.ID] = true
	}
	left := slices.Clone(nodes)
	for len(left) > 0 {
		at := slices.IndexFunc(left, func(n Node) bool {
			return !slices.ContainsFunc(n.Needs, func(need string) bool { return known[need] && !placed[need] })
		})
		if at < 0 {
			return append(out, left...)
		}
		placed[left[at].ID] = true
		out = append(out, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return out
}

// circle returns the ids on a circle, the first one again at its end; nil: there is none. Each
// node's line is looked at in order, so that the same document names the same circle.
func circle(nodes []Node) []string {
	byID := map[string]Node{}
	for _, n := range nodes {
		byID[n.ID] = n
	}
	done := map[string]bool{}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		if at := slices.Index(path, id); at >= 0 {
			return append(slices.Clone(path[at:]), id)
		}
		n, ok := byID[id]
		if !ok || done[id] {
			return nil
		}
		path = append(path, id)
		for _, need := range n.Needs {
			if found := visit(need); found != nil {
				return found
			}
		}
		path = path[:len(path)-1]
		done[id] = true
		return nil
	}
	for _, n := range nodes {
		if found := visit(n.ID); found != nil {
			return found
		}
	}
	return nil
}
