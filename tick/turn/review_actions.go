package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// reviewed is a reviewer's answer, converted to the types of package review.
type reviewed struct {
	Verdict  review.Verdict
	Findings []review.Finding // new ones
	tokens   []string         // of the comments that may hold them
	Resolved []string         // ids of earlier findings that are resolved
	subject  string           // of the review, in tokens
}

// readReview converts a reviewer's answer. A comment on the same file in the same words as an open
// finding is not a new finding. It is pure.
func readReview(l *env.Lease, told prompts.Context, a prompts.Answer) reviewed {
	due, _ := l.Due()
	out := reviewed{subject: due.Subject(), Verdict: review.Verdict{
		TurnID: l.Turn.ID, Reviewer: due.Reviewer, Head: due.Head, Epoch: due.Epoch, Cycle: due.Cycle, Decision: a.Decision,
		Validity: review.Counts, CalledIn: a.Escalate, Body: strings.TrimSpace(a.Summary + "\n\n" + a.Body),
	}}
	if told.Review != nil {
		out.Verdict.MergeBase, out.Verdict.Unread = told.Review.MergeBase, told.Review.Unread
	}
	var open []string
	for _, e := range a.Earlier {
		if e.Resolved {
			out.Resolved = append(out.Resolved, e.Finding)
		} else {
			open = append(open, e.Finding)
		}
	}
	for i, c := range a.Comments {
		said := slices.ContainsFunc(told.Findings, func(x prompts.Finding) bool {
			return slices.Contains(open, x.ID) && x.Path == c.Path && sameWords(x.Body, c.Body)
		})
		if said {
			continue
		}
		token := work.FindingToken(l.Repo.Row.Key(), l.Turn.Number, due.Reviewer, due.Subject(), due.Cycle, i)
		out.tokens = append(out.tokens, token)
		out.Findings = append(out.Findings, review.Finding{
			ID: review.FindingID(token), Reviewer: due.Reviewer, Head: due.Head, Cycle: due.Cycle, Path: c.Path, Line: c.Line,
			Severity: c.Severity, Confidence: c.Confidence, Body: c.Body,
		})
	}
	out.Verdict.Count = len(out.Findings)
	for _, s := range review.Severities() {
		if out.Verdict.Highest == "" && slices.ContainsFunc(out.Findings, func(x review.Finding) bool { return x.Severity == s }) {
			out.Verdict.Highest = s
		}
	}
	return out
}

func sameWords(x, y string) bool {
	return strings.Join(strings.Fields(x), " ") == strings.Join(strings.Fields(y), " ")
}

// review plans a review. Findings that are severe enough and on a line of the diff become line
// comments; the rest goes into the body.
func (c *composer) review() {
	t := c.l.Turn
	told := c.l.StoredContext()
	r := readReview(c.l, told, c.answer)
	var remarks review.Remarks
	var inBody []review.Finding
	for i, x := range r.Findings {
		if !x.Severity.AtLeast(blockingSeverity(told)) || !c.l.Lines.Has(x.Path, x.Line) {
			inBody = append(inBody, x)
			continue
		}
		marked := x
		marked.Body = public.FirstRunes(x.Body, maxMarked)
		body := c.signed(c.finding(x), work.Marks{Token: r.tokens[i], Finding: review.MarkFinding(marked)})
		remarks.OnLines = append(remarks.OnLines, review.Remark{Path: x.Path, Line: x.Line, Body: body})
	}
	remarks.Whole = c.reviewBody(r, told, r.Findings)
	c.add(work.Action{
		Kind: work.ActionReview, Need: work.NeedRequired, Number: t.Number, Target: r.Verdict.Reviewer, Title: string(r.Verdict.Decision), Head: r.Verdict.Head,
		Token: work.ReviewToken(c.l.Repo.Row.Key(), t.Number, r.Verdict.Reviewer, r.subject, r.Verdict.Cycle), Why: t.Reason,
		Body: c.reviewBody(r, told, inBody), Extra: remarks.Encode(),
	})
}

// blockingSeverity returns the lowest severity that requests changes, as in the prompt.
func blockingSeverity(told prompts.Context) review.Severity {
	if told.Review == nil || told.Review.Blocking == "" {
		return review.Major
	}
	return told.Review.Blocking
}

// reviewBody returns a review's body with these findings and its markers.
func (c *composer) reviewBody(r reviewed, told prompts.Context, inBody []review.Finding) string {
	text := c.reviewText(r, told, inBody)
	token := work.ReviewToken(c.l.Repo.Row.Key(), c.l.Turn.Number, r.Verdict.Reviewer, r.subject, r.Verdict.Cycle)
	return prompts.Bounded(text, cmp.Or(c.l.Disclosure, c.l.Signature), work.Marks{Token: token, By: c.l.Repo.Signed(), Handled: c.l.Turn.EventKeys, Review: markOf(r, told, inBody)})
}

func (c *composer) reviewText(r reviewed, told prompts.Context, inBody []review.Finding) string {
	says := "approves"
	if r.Verdict.Decision == review.RequestChanges {
		says = "requests changes"
	}
	parts := []string{fmt.Sprintf("**%s %s.** %s", r.Verdict.Reviewer, says, public.InlineBody(c.answer.Summary))}
	if strings.TrimSpace(c.answer.Body) != "" {
		parts = append(parts, public.Body(c.answer.Body))
	}
	if text := c.judged(told); text != "" {
		parts = append(parts, text)
	}
	if text := c.notShown(r.Verdict.Unread); text != "" {
		parts = append(parts, text)
	}
	smaller := false
	blocks := func(x review.Finding) bool { return x.Severity.AtLeast(blockingSeverity(told)) }
	for _, x := range slices.Concat(filter(inBody, blocks), filter(inBody, func(x review.Finding) bool { return !blocks(x) })) {
		if !blocks(x) && !smaller {
			smaller = true
			parts = append(parts, "None of this has to change before it is merged:")
		}
		parts = append(parts, "**"+placeOf(x)+"** "+c.finding(x))
	}
	return strings.Join(parts, "\n\n")
}

// notShown says which files the reviewer was not shown whole, of those that it should have been.
func (c *composer) notShown(unread []string) string {
	var names []string
	unread = slices.DeleteFunc(slices.Clone(unread), c.l.Repo.Settings.MayStayUnread)
	for _, path := range unread[:min(len(unread), merging.MostPaths)] {
		names = append(names, inCode(public.OneLine(path)))
	}
	switch more := len(unread) - len(names); {
	case len(names) == 0:
		return ""
	case more > 0:
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "Not shown whole to this reviewer, and so not reviewed: " + work.JoinNames(names) + "."
}

func filter(all []review.Finding, wanted func(review.Finding) bool) []review.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(x review.Finding) bool { return !wanted(x) })
}

// judged lists the reviewer's earlier findings and their state.
func (c *composer) judged(told prompts.Context) string {
	var lines []string
	for _, e := range c.answer.Earlier {
		at := slices.IndexFunc(told.Findings, func(x prompts.Finding) bool { return x.ID == e.Finding })
		if at < 0 {
			continue
		}
		x := told.Findings[at]
		line := "- " + placeOf(review.Finding{Path: x.Path, Line: x.Line})
		if e.Resolved {
			line += " is done"
		} else {
			line += " is still open"
		}
		if strings.TrimSpace(e.Note) != "" {
			line += ": " + public.InlineBody(public.OneLine(e.Note))
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return ""
	}
	return "Earlier findings:\n\n" + strings.Join(lines, "\n")
}

// finding returns the text of a finding for people.
func (c *composer) finding(x review.Finding) string {
	return fmt.Sprintf("*%s, confidence %s*\n\n%s", x.Severity, x.Confidence, public.Body(x.Body))
}

// placeOf returns file and line as code, so that an agent's path cannot act as markup.
func placeOf(x review.Finding) string {
	path := public.OneLine(x.Path)
	if x.Line > 0 {
		path = fmt.Sprintf("%s:%d", path, x.Line)
	}
	return inCode(path)
}

// inCode returns a line as code.
func inCode(line string) string {
	if strings.Contains(line, "`") {
		return public.InlineBody(line)
	}
	return "`" + line + "`"
}

// maxMarked limits a finding's text in its comment's marker, in characters.
const maxMarked = 4000

// maxMark limits a review's marker, in bytes; the rest of the body is for its text.
const maxMark = 36000

// markOf returns the marker of a review with the findings in its body. If they do not fit, their
// texts are shortened and the least severe are omitted.
func markOf(r reviewed, told prompts.Context, inBody []review.Finding) string {
	blocks := func(x review.Finding) bool { return x.Severity.AtLeast(blockingSeverity(told)) }
	all := slices.Concat(filter(inBody, blocks), filter(inBody, func(x review.Finding) bool { return !blocks(x) }))
	for _, most := range []int{400, 100, 0} {
		for i := range all {
			all[i].Body = public.FirstRunes(all[i].Body, most)
		}
		if m := review.Mark(r.Verdict, r.Resolved, all); len(m) <= maxMark {
			return m
		}
	}
	for len(all) > 0 && len(review.Mark(r.Verdict, r.Resolved, all)) > maxMark {
		all = all[:len(all)-1]
	}
	return review.Mark(r.Verdict, r.Resolved, all)
}

// findingReplies answers reviewers' findings in their threads. Findings are not events of the turn:
// the review as a whole is.
func (c *composer) findingReplies() {
	if c.l.Turn.Reviewer == "" {
		return
	}
	t := c.l.Turn
	for _, x := range c.l.StoredContext().Findings {
		at := slices.IndexFunc(c.answer.ReviewReplies, func(r prompts.ReviewReply) bool { return r.ReviewCommentID == x.CommentID })
		if x.CommentID == 0 || at < 0 {
			continue
		}
		r, top := c.answer.ReviewReplies[at], strconv.FormatInt(x.CommentID, 10)
		token := work.ReplyToken(c.l.Repo.Row.Key(), t.Number, x.CommentID, work.ContentHash(x.ID, t.EventKeys[0]))
		c.add(work.Action{
			Kind: work.ActionReply, Need: work.NeedRequired, Token: token, Number: t.Number, Target: top,
			Body: c.signed(public.Body(r.Body), work.Marks{Token: token}), Why: x.ID,
		})
		if r.Resolve && c.fixed() {
			c.add(work.Action{
				Kind: work.ActionResolve, Need: work.NeedCosmetic, Number: t.Number, Target: top,
				Token: work.ResolveToken(c.l.Repo.Row.Key(), t.Number, top, t.Key), Why: x.ID,
			})
		}
	}
}

// fixed reports whether there is a commit for the request. Without one the thread stays open for
// people, even if the agent resolves it.
func (c *composer) fixed() bool { return c.l.Turn.Commit != "" || c.l.Committed() }

// fixMessage returns the message of a commit that fixes a review. It names the review, so that the
// history alone shows which.
func fixMessage(l *env.Lease, message string) string {
	if message == "" {
		message = "Address the review of " + l.Turn.Reviewer
	}
	if url := reviewURL(l); url != "" {
		message = strings.TrimRight(message, "\n") + "\n\nReview: " + url
	}
	return message
}

func reviewURL(l *env.Lease) string {
	if r := l.StoredContext().ReviewFix; r != nil {
		return r.URL
	}
	return ""
}

// reviewTrailer returns the trailer that names the review a commit answers; empty: none.
func reviewTrailer(l *env.Lease) string {
	due, ok := l.FixDue()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s: %s %d", work.TrailerReview, l.Turn.Reviewer, due.ReviewID)
}
