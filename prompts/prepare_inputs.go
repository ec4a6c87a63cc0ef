package prompts

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/prompts/public"
)

// How much of diffs, logs and documents goes into one prompt, in characters.
const (
	maxDocument    = 60000
	maxDiff        = 200000
	maxLog         = 20000
	maxLogs        = 80000 // shared by all checks
	maxChecks      = 20
	maxAnnotations = 50
	maxMessage     = 1000
	maxFindings    = 100
	maxPoints      = 100
)

// tidy makes each string one clean line of limited length.
func tidy(fields ...*string) {
	for _, s := range fields {
		*s = line(*s)
	}
}

func prepareHandoff(h *Handoff) *Handoff {
	if h == nil {
		return nil
	}
	c := *h
	tidy(&c.DocumentPath, &c.MergeCommit, &c.Base, &c.BaseSHA)
	c.Document = said(c.Document, maxDocument)
	for _, list := range []*[]string{&c.Decisions, &c.NonGoals, &c.Criteria, &c.TouchPaths, &c.Risks} {
		*list = lines(*list, maxPoints)
	}
	return &c
}

// prepareChecks cuts red checks. Logs keep their end, and many checks share one limit.
func prepareChecks(list []Check) []Check {
	room := max(maxMessage, min(maxLog, maxLogs/max(1, min(len(list), maxChecks))))
	out := make([]Check, 0, min(len(list), maxChecks))
	for i, c := range list {
		if i == maxChecks-1 && len(list) > maxChecks {
			return append(out, Check{Name: fmt.Sprintf("[… %d more checks left out]", len(list)-i), Annotations: []Annotation{}})
		}
		tidy(&c.Name, &c.Conclusion, &c.URL)
		c.Summary = cut(public.Visible(c.Summary), maxCommentBody)
		c.Log = cutHead(public.Visible(c.Log), room)
		c.Annotations = annotations(c.Annotations)
		out = append(out, c)
	}
	return out
}

func annotations(list []Annotation) []Annotation {
	out := make([]Annotation, 0, min(len(list), maxAnnotations))
	for i, a := range list {
		if i == maxAnnotations-1 && len(list) > maxAnnotations {
			return append(out, Annotation{Message: fmt.Sprintf("[… %d more annotations left out]", len(list)-i)})
		}
		tidy(&a.Path, &a.Level)
		a.Message = cut(public.Visible(a.Message), maxMessage)
		out = append(out, a)
	}
	return out
}

func prepareConflict(c *Conflict) *Conflict {
	if c == nil {
		return nil
	}
	out := *c
	tidy(&out.Base, &out.BaseSHA, &out.HeadSHA)
	out.Paths = lines(c.Paths, maxFiles)
	out.Log = cutHead(public.Visible(c.Log), maxLog)
	return &out
}
