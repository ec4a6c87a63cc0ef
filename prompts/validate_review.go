package prompts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// maxReviewComments is the limit of comments in one run of a review.
const maxReviewComments = 100

// review checks a verdict. If it contradicts its own findings, it is asked for again: nobody could
// tell which of the two was meant.
func (c *checker) review(a Answer, asked Asked) {
	c.text("summary", a.Summary, false)
	most := maxReviewComments * max(1, asked.Runs)
	if len(a.Comments) > most {
		c.add("comments has %d entries; at most %d are taken", len(a.Comments), most)
	}
	least := blocking(asked.Blocking)
	found := 0
	for i, r := range a.Comments[:min(len(a.Comments), most)] {
		if why := PathProblem(r.Path); why != "" {
			c.add("comments[%d].path %q %s", i, r.Path, why)
		}
		if r.Line < 0 {
			c.add("comments[%d].line is %d; lines are counted from 1, null is the file", i, r.Line)
		}
		if strings.TrimSpace(r.Body) == "" {
			c.add("comments[%d] has an empty body", i)
		}
		if r.Severity.AtLeast(least) {
			found++
		}
	}
	open := c.earlier(a.Earlier, asked.Findings, least)
	if a.Decision == review.Approve && found+open > 0 {
		c.add("decision is approve, with %d comments that are %s and %d earlier ones not resolved", found, blocks(least), open)
	}
	if a.Decision == review.RequestChanges && found+open == 0 {
		c.add("decision is request_changes, but no comment is %s and no earlier finding that is so is open: say what must change, or approve", blocks(least))
	}
	c.escalate(a.Escalate, asked.Escalations, asked.Coming)
}

// earlier checks that each earlier finding has one verdict. It counts the open findings that are
// severe enough to block.
func (c *checker) earlier(list []Judgement, asked []Finding, least review.Severity) (open int) {
	var seen []string
	for i, v := range list {
		at := slices.IndexFunc(asked, func(x Finding) bool { return x.ID == v.Finding })
		switch {
		case at < 0:
			c.add("earlier[%d] names finding %q, which was not asked about", i, v.Finding)
		case slices.Contains(seen, v.Finding):
			c.add("earlier[%d] names finding %q a second time", i, v.Finding)
		case !v.Resolved && asked[at].Severity.AtLeast(least):
			open++
		}
		seen = append(seen, v.Finding)
	}
	for _, x := range asked {
		if !slices.Contains(seen, x.ID) {
			c.add("earlier says nothing about finding %q", x.ID)
		}
	}
	return open
}

// escalate accepts names of reviewers who look at the pull request anyway: a paid verdict must not
// fail for them.
func (c *checker) escalate(names, offered, coming []string) {
	for i, name := range names {
		if slices.Contains(coming, name) {
			continue
		}
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
