package prompts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/prompts/document"
)

// maxReviewComments is how many comments of one review are taken.
const maxReviewComments = 100

// review checks a verdict. One that contradicts its own findings is asked for
// again: nobody could say which of the two was meant.
func (c *checker) review(a Answer, asked Asked) {
	c.text("summary", a.Summary, false)
	if len(a.Comments) > maxReviewComments {
		c.add("comments has %d entries; at most %d are taken", len(a.Comments), maxReviewComments)
	}
	blocking := 0
	for i, r := range a.Comments[:min(len(a.Comments), maxReviewComments)] {
		if why := document.PathProblem(r.Path); why != "" {
			c.add("comments[%d].path %q %s", i, r.Path, why)
		}
		if r.Line < 0 {
			c.add("comments[%d].line is %d; lines are counted from 1, null is the file", i, r.Line)
		}
		if strings.TrimSpace(r.Body) == "" {
			c.add("comments[%d] has an empty body", i)
		}
		if r.Severity == SeverityBlocking {
			blocking++
		}
	}
	open := c.earlier(a.Earlier, asked.Findings)
	if a.Decision == DecisionApprove && blocking+open > 0 {
		c.add("decision is approve, with %d blocking comments and %d earlier findings not resolved", blocking, open)
	}
	if a.Decision == DecisionRequestChanges && blocking+open == 0 {
		c.add("decision is request_changes, but no comment is blocking and no earlier finding is open: say what must change, or approve")
	}
	c.escalate(a.Escalate, asked.Escalations)
}

// earlier demands a word on each finding that was asked about, and counts
// those that stand.
func (c *checker) earlier(list []Judgement, asked []string) (open int) {
	var seen []string
	for i, v := range list {
		switch {
		case !slices.Contains(asked, v.Finding):
			c.add("earlier[%d] names finding %q, which was not asked about", i, v.Finding)
		case slices.Contains(seen, v.Finding):
			c.add("earlier[%d] names finding %q a second time", i, v.Finding)
		}
		seen = append(seen, v.Finding)
		if !v.Resolved {
			open++
		}
	}
	for _, id := range asked {
		if !slices.Contains(seen, id) {
			c.add("earlier says nothing about finding %q", id)
		}
	}
	return open
}

func (c *checker) escalate(names, offered []string) {
	for i, name := range names {
		if !slices.Contains(offered, name) || utf8.RuneCountInString(name) > maxPath {
			c.add("escalate[%d] %q was not offered; offered: %s", i, name, orNone(strings.Join(offered, ", ")))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
