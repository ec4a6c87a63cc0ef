package prompts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Told is what a session knows: the whole prompt of the last turn that it answered, and what that
// prompt was made of.
type Told struct {
	Prompt  string
	Context Context
	Turns   []string // keys of the turns that the session answered
	Decided string   // the decision summary of the last of them
}

// Resume returns a turn's prompt for a session that answered an earlier turn: the paragraphs of the
// whole prompt that the session was not told word for word. What the turn is about, and how to
// answer, is always told.
func (p *Pack) Resume(kind work.Kind, c Context, told Told) (string, error) {
	c = withoutKnown(Prepare(c), told)
	about, err := newPage(kind, c)
	if err != nil {
		return "", fmt.Errorf("render prompt %q: %w", kind, err)
	}
	whole, err := p.render(string(kind), kind, c)
	if err != nil {
		return "", err
	}
	head, err := p.execute(partResumed, about)
	if err != nil {
		return "", err
	}
	before := ""
	if m := fenceNonce().FindStringSubmatch(told.Prompt); m != nil {
		before = m[1]
	}
	known := map[string]bool{}
	for _, one := range paragraphs(told.Prompt, before) {
		known[strings.ReplaceAll(one, before, about.Nonce)] = before != ""
	}
	all := paragraphs(whole, about.Nonce)
	out := []string{strings.TrimSpace(head)}
	for i, one := range all {
		if i == len(all)-1 || !known[one] || !lasts(one, about.Nonce) {
			out = append(out, one)
		}
	}
	return strings.Join(out, "\n\n") + "\n" + attached(c.Attachments), nil
}

var fenceNonce = lazy.Regexp(`(?m)^-----BEGIN DATA ([0-9a-f]{20}) `)

// lasting are the labels of data that describes the work and asks for nothing. Data with another
// label is told again even if the session knows it: a finding that is still open, a check that is
// red again.
var lasting = []string{
	labelIssue, labelConversation, labelInstructions, labelFiles, labelDecisions, labelSaid, labelOpen, labelAgreed, labelDesign, labelSpecification, labelAccepts,
}

// lasts reports whether a paragraph holds nothing but our own words and lasting data.
func lasts(paragraph, nonce string) bool {
	for l := range strings.Lines(paragraph) {
		label, begins := strings.CutPrefix(l, "-----BEGIN DATA "+nonce+" (")
		if begins && !slices.Contains(lasting, strings.TrimRight(label, ")\n")) {
			return false
		}
	}
	return true
}

// paragraphs splits a prompt at the blank lines outside its fences.
func paragraphs(text, nonce string) []string {
	var all []string
	var one strings.Builder
	in := false
	end := func() {
		if one.Len() > 0 {
			all = append(all, strings.TrimRight(one.String(), "\n"))
		}
		one.Reset()
	}
	for l := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(l, "-----BEGIN DATA "+nonce):
			in = true
		case strings.HasPrefix(l, "-----END DATA "+nonce):
			in = false
		case !in && strings.TrimSpace(l) == "":
			end()
			continue
		}
		one.WriteString(l)
	}
	end()
	return all
}

// withoutKnown leaves out of a context's lists what the session was told, asked or wrote itself.
func withoutKnown(c Context, told Told) Context {
	knows := func(x Comment) bool {
		return slices.Contains(told.Turns, cmp.Or(x.Turn, "none")) ||
			slices.ContainsFunc(slices.Concat(told.Context.Earlier, told.Context.Task.Issue.Comments), func(y Comment) bool { return sameComment(x, y) }) ||
			slices.ContainsFunc(told.Context.NewEvents, func(e NewEvent) bool { return x.ID != 0 && fmt.Sprint(x.ID) == e.ID && x.Body == e.Body })
	}
	c.Earlier = slices.DeleteFunc(slices.Clone(c.Earlier), knows)
	c.Task.Issue.Comments = slices.DeleteFunc(slices.Clone(c.Task.Issue.Comments), knows)
	c.Unresolved = slices.DeleteFunc(slices.Clone(c.Unresolved), func(u Unresolved) bool {
		return slices.ContainsFunc(told.Context.Unresolved, func(v Unresolved) bool {
			return u.Kind == v.Kind && u.Title == v.Title && u.Path == v.Path && u.Line == v.Line && slices.EqualFunc(u.Comments, v.Comments, sameComment)
		})
	})
	if c.DecisionSummary == told.Decided {
		c.DecisionSummary = ""
	}
	return c
}

func sameComment(x, y Comment) bool {
	return x.ID == y.ID && x.Author == y.Author && x.Body == y.Body && x.CreatedAt.Equal(y.CreatedAt)
}
