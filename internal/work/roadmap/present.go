package roadmap

import (
	"maps"
	"strings"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// Present is a sub-issue that the issue of a roadmap has when its document is checked.
type Present struct {
	Number int    // 0: it is in another repository
	Node   string // of this roadmap, whose sub-issue it is; empty: none
	Title  string
	Text   string // its beginning, MaxPresentText bytes
	State  work.DependencyState
}

// MaxPresentText is how much of the text of a sub-issue is compared.
const MaxPresentText = 1000

// present checks the sub-issues that nodes adopt, and asks about each new node that says what a completed
// sub-issue says: a plan that is made again must not have finished work done a second time.
func (c *checker) present(d Document, all []Present) {
	taken := map[int]string{}
	for _, n := range d.Nodes {
		var at, own, done *Present
		for i, p := range all {
			switch {
			case p.Number != 0 && p.Number == n.Issue:
				at = &all[i]
			case p.Node != "" && p.Node == n.ID:
				own = &all[i]
			case done == nil && p.State == work.DependencyClosed && n.says(p):
				done = &all[i]
			}
		}
		switch {
		case n.Issue != 0 && taken[n.Issue] != "":
			c.add(n.Line, "%s and node %q have the same issue, #%d", n.name(), shown(taken[n.Issue]), n.Issue)
		case n.Issue != 0 && at == nil:
			c.add(n.Line, "%s: #%d is no sub-issue of the roadmap's issue: put it there, or leave the key issue out", n.name(), n.Issue)
		case n.Issue != 0 && at.State == work.DependencyDropped && at.Node != n.ID:
			c.add(n.Line, "%s: #%d is closed as not planned: reopen it, or leave the key issue out", n.name(), n.Issue)
		case n.Issue == 0 && own == nil && done != nil && done.Number != 0:
			c.add(n.Line, "%s says what #%d says, %q, which is completed: adopt that by \"issue: %d\", leave the node out, or have its title and section say what is left to do",
				n.name(), done.Number, shown(done.Title), done.Number)
		}
		taken[n.Issue] = n.ID
	}
}

// says reports whether a node has the title or the specification of a sub-issue, but for a few words.
func (n Node) says(p Present) bool {
	text := n.Text
	if len(text) > MaxPresentText {
		text = text[:MaxPresentText]
	}
	title := wordsOf(n.Title)
	return len(title) > 0 && maps.Equal(title, wordsOf(p.Title)) || alike(title, wordsOf(p.Title), 4) || alike(wordsOf(text), wordsOf(p.Text), 8)
}

// alike reports whether two texts share at least that many words, and nearly all that they have.
func alike(a, b map[string]bool, least int) bool {
	common := 0
	for w := range a {
		if b[w] {
			common++
		}
	}
	return common >= least && 5*common >= 4*max(len(a), len(b))
}

// wordsOf returns the words of a text, without headings.
func wordsOf(s string) map[string]bool {
	all := map[string]bool{}
	for _, line := range document.Lines(s) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			all[w] = true
		}
	}
	return all
}
