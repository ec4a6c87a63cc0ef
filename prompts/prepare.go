package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// How much of people's text goes into one prompt, in characters. Everything that needs an answer is
// included; long texts are cut with a note.
const (
	maxLine        = 500
	maxIssueBody   = 32000
	maxCommentBody = 6000
	maxComments    = 100
	maxEventsText  = 160000 // shared by the new events
	maxEventBody   = 12000
	minEventBody   = 2000
	maxHunk        = 3000
	maxEarlier     = 40
	maxUnresolved  = 50
	maxThread      = 20
	maxFiles       = 300
	maxSummary     = 8000
	maxSentences   = 40
)

// Prepare makes a context fit for an agent. It removes what people do not see, such as HTML comments,
// shows invisible characters, and cuts everything to limits with a note. Lists are never nil, so
// that their JSON is never null. Preparing twice is preparing once.
func Prepare(c Context) Context {
	c.Task, c.Surroundings = prepareTask(c.Task), prepareSurroundings(c.Surroundings)
	c.DecisionSummary = cut(public.Visible(c.DecisionSummary), maxSummary)
	c.Previous = cut(public.Visible(c.Previous), maxSummary)
	c.Waited = cut(public.Visible(c.Waited), maxSummary)
	c.Refused = lines(c.Refused, maxSentences)

	each := max(minEventBody, min(maxEventBody, maxEventsText/max(1, len(c.NewEvents))))
	c.NewEvents = slices.Clone(c.NewEvents)
	for i := range c.NewEvents {
		c.NewEvents[i] = prepareEvent(c.NewEvents[i], each)
	}
	if c.NewEvents == nil {
		c.NewEvents = []NewEvent{}
	}
	c.Unresolved, c.Attachments = prepareUnresolved(c.Unresolved), prepareAttachments(c.Attachments)
	c.Earlier = comments(c.Earlier, maxEarlier)
	c.Handoff, c.Conflict, c.Parent = prepareHandoff(c.Handoff), prepareConflict(c.Conflict), prepareParent(c.Parent)
	c.Review, c.ReviewFix, c.Specification = prepareReview(c.Review), prepareReviewFix(c.ReviewFix), prepareSpecification(c.Specification)
	c.Roadmap, c.Accepts = prepareRoadmap(c.Roadmap), prepareAccepts(c.Accepts)
	c.Checks, c.Findings = prepareChecks(c.Checks), prepareFindings(c.Findings)
	if c.Partial != nil {
		c.Partial = &Partial{Commit: line(c.Partial.Commit), ChangedFiles: lines(c.Partial.ChangedFiles, maxFiles)}
	}
	return c
}

func prepareTask(t Task) Task {
	tidy(&t.Repository, &t.Branch, &t.Base, &t.BaseSHA, &t.Document, &t.TurnKey, &t.Issue.Title, &t.Issue.Author, &t.Issue.URL)
	t.Issue.Body = said(t.Issue.Body, maxIssueBody)
	t.Issue.Comments = comments(t.Issue.Comments, maxComments)
	t.ChangedFiles = lines(t.ChangedFiles, maxFiles)
	t.Instructions = prepareInstructions(t.Instructions)
	if t.PullRequest != nil {
		pr := *t.PullRequest
		tidy(&pr.URL, &pr.HeadSHA, &pr.Base, &pr.Title, &pr.Version)
		pr.Text = said(pr.Text, maxIssueBody)
		t.PullRequest = &pr
	}
	return t
}

func prepareEvent(e NewEvent, limit int) NewEvent {
	tidy(&e.ID, &e.State, &e.Author, &e.URL, &e.Path)
	e.Body = said(e.Body, limit)
	e.DiffHunk = cutHead(public.Visible(e.DiffHunk), maxHunk) // the comment is about its last line
	return e
}

func prepareUnresolved(list []Unresolved) []Unresolved {
	list = slices.Clone(list[:min(len(list), maxUnresolved)])
	for i := range list {
		u := &list[i]
		tidy(&u.Kind, &u.Title, &u.Path, &u.URL)
		u.Comments = comments(u.Comments, maxThread)
	}
	if list == nil {
		list = []Unresolved{}
	}
	return list
}

// unshown is the note on what AsShown left out. It says nothing of HTML comments: most are those of
// an issue's template, or our own markers.
const unshown = "[%s that GitHub does not show left out]"

// drawn is the note on a text of which GitHub shows pictures.
const drawn = "[GitHub draws the formulas and diagrams of this text, and people do not see all of their source]"

// said returns people's text as GitHub shows it, cut to limit. Notes come first, where no cut takes
// them.
func said(s string, limit int) string {
	shown := public.AsShown(s)
	s = strings.TrimSpace(shown.Text)
	if shown.Drawn && !strings.Contains(s, drawn) {
		s = drawn + "\n\n" + s
	}
	if shown.Left > 0 {
		s = fmt.Sprintf(unshown, work.Count(shown.Left, "character")) + "\n\n" + s
	}
	return cut(s, limit)
}

func line(s string) string { return cutLine(public.OneLine(s)) }

func cutLine(s string) string {
	if short := public.FirstRunes(s, maxLine); len(short) < len(s) {
		return public.FirstRunes(s, maxLine-1) + "…"
	}
	return s
}

// omitted is the note that replaces older comments of a conversation.
const omitted = "[… %d earlier comments left out]"

// comments keeps the newest limit comments. A note without author or id replaces the others.
func comments(list []Comment, limit int) []Comment {
	out := make([]Comment, 0, min(len(list), limit))
	if n := len(list) - limit; n > 0 {
		n++ // the note takes one place
		out = append(out, Comment{Body: fmt.Sprintf(omitted, n)})
		list = list[n:]
	}
	for _, c := range list {
		c.Author, c.URL = line(c.Author), line(c.URL)
		c.Body = said(c.Body, maxCommentBody)
		out = append(out, c)
	}
	return out
}

// lines cuts each string to one line and the list to limit.
func lines(list []string, limit int) []string {
	out := make([]string, 0, min(len(list), limit))
	for i, s := range list {
		if i == limit-1 && len(list) > limit {
			return append(out, fmt.Sprintf("[… %d more left out]", len(list)-i))
		}
		out = append(out, line(s))
	}
	return out
}

// How much of diffs, logs and documents goes into one prompt, in characters.
const (
	maxDocument    = 60000
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

// How much of a roadmap goes into the prompt of one of its issues: the rest is in the repository.
const (
	maxGoal          = 8000
	maxPredecessors  = 10
	maxPullSummaries = 20000 // characters, shared by the predecessors
	maxPullFiles     = 40
)

func prepareParent(p *Parent) *Parent {
	if p == nil {
		return nil
	}
	c := *p
	tidy(&c.Title)
	c.Goal = said(c.Goal, maxGoal)
	c.Before = slices.Clone(c.Before[:min(len(c.Before), maxPredecessors)])
	for i := range c.Before {
		b := &c.Before[i]
		tidy(&b.Issue, &b.Title, &b.PullRequest, &b.MergeCommit)
		b.Summary = said(b.Summary, maxPullSummaries/len(c.Before))
		b.ChangedFiles, b.Decisions = lines(b.ChangedFiles, maxPullFiles), lines(b.Decisions, maxSentences)
	}
	if left := len(p.Before) - len(c.Before); left > 0 && c.Before[len(c.Before)-1].Issue != "" {
		c.Before[len(c.Before)-1] = Predecessor{Title: fmt.Sprintf("[… %d more issues left out]", left+1), ChangedFiles: []string{}, Decisions: []string{}}
	}
	if c.Before == nil {
		c.Before = []Predecessor{}
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
