package prompts

import (
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// reviewPage is the further data of the templates of a review and of its fix.
type reviewPage struct {
	Reviewer      string
	Persona       string // the operator's text, unfenced
	Round         int
	Cycle         int
	Since         string // the commit at which the diff begins; empty: the base
	Diff          string
	Cut           string
	Beside        string
	Part, Parts   int
	Results       string
	Blocks        string // severities that request changes, each in quotes
	Others        string
	Escalations   string
	Theirs        bool // somebody else's pull request
	Guarded       bool
	Fix           *ReviewFix // its reviewer and numbers are used unfenced
	FixText       string
	FixEarlier    string
	Specification string
}

func newReviewPage(f fencer, kind work.Kind, c Context) reviewPage {
	p := reviewPage{Specification: f.specification(c.Specification)}
	if r := c.Review; r != nil && kind == work.KindReview {
		p.Reviewer, p.Persona, p.Round, p.Cycle, p.Since = r.Reviewer, r.Persona, r.Round, r.Cycle, r.Since
		p.Theirs, p.Guarded = r.Theirs, r.Guarded
		p.Diff, p.Others = f.optional("diff", r.Diff), f.findings(r.Others)
		p.Cut, p.Results = f.optional("files not shown whole", strings.Join(r.Cut, "\n")), f.results(r.Results)
		p.Beside, p.Part, p.Parts = r.Beside, r.Part, r.Parts
		p.Blocks, p.Escalations = blocks(r.Blocking), strings.Join(r.Escalations, ", ")
	}
	if x := c.ReviewFix; x != nil && kind == work.KindFix {
		p.Fix, p.FixEarlier = x, f.findings(x.Earlier)
		p.FixText = f.data("review", head("by", x.Reviewer, "url", x.URL)+"\n"+orNothing(x.Body))
	}
	return p
}

// blocking returns the least severity for which changes may be requested.
func blocking(s review.Severity) review.Severity {
	if s == "" {
		return review.Major
	}
	return s
}

// blocks lists the severities that request changes, as part of a sentence.
func blocks(least review.Severity) string {
	var words []string
	for _, s := range review.Severities() {
		if s.AtLeast(blocking(least)) {
			words = append(words, strconv.Quote(string(s)))
		}
	}
	return strings.Join(words, " or ")
}

func (f fencer) findings(list []Finding) string {
	parts := make([]string, 0, len(list))
	for _, x := range list {
		comment := ""
		if x.CommentID != 0 {
			comment = strconv.FormatInt(x.CommentID, 10)
		}
		text := head("finding", x.ID, "review comment", comment, "by", x.Reviewer, "fix cycle", strconv.Itoa(x.Cycle), "severity", string(x.Severity),
			"confidence", x.Confidence, "file", place(x.Path, x.Line)) + "\n" + orNothing(x.Body)
		if x.Answer != "" {
			text += "\n\nthe author's answer:\n" + x.Answer
		}
		parts = append(parts, f.data("finding", text))
	}
	return strings.Join(parts, "\n")
}

func (f fencer) specification(list []SpecFile) string {
	parts := make([]string, 0, len(list))
	for _, s := range list {
		parts = append(parts, f.data(labelSpecification, head("file", s.Path)+"\n"+orNothing(s.Text)))
	}
	return strings.Join(parts, "\n")
}

func (f fencer) results(list []Result) string {
	var text strings.Builder
	for _, r := range list {
		text.WriteString(r.Name + ": " + r.Result + "\n")
	}
	return f.optional("results", text.String())
}

// findingReplies lists the review comments that hold findings.
func findingReplies(list []Finding) []string {
	var ids []string
	for _, x := range list {
		if x.CommentID != 0 {
			ids = append(ids, strconv.FormatInt(x.CommentID, 10))
		}
	}
	return ids
}

// AskedOf returns what an answer to a prepared context may refer to and must cover.
func AskedOf(kind work.Kind, c Context) Asked {
	a := Asked{Headings: c.Accepts.headings(), EditsPull: c.Task.PullRequest != nil && c.Task.PullRequest.Version != "", Unanswered: c.NewEvents, Findings: c.Findings, Roadmap: c.Roadmap, Below: below(kind, c)}
	if kind == work.KindReview {
		if r := c.Review; r != nil {
			a.Escalations, a.Coming, a.Blocking = r.Escalations, r.Coming, r.Blocking
			if r.Part == 0 {
				a.Runs = r.Parts
			}
		}
		return a
	}
	for _, id := range replyIDs(c) {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			a.Replies = append(a.Replies, n)
		}
	}
	return a
}

// below reports whether an agent works below a roadmap, and may ask to change it.
func below(kind work.Kind, c Context) bool { return c.Parent != nil && kind != work.KindReview }

// replyIDs lists the review comments to which an answer may reply.
func replyIDs(c Context) []string {
	var ids []string
	for _, e := range c.NewEvents {
		if e.Kind == work.EventReview {
			ids = append(ids, public.OneLine(e.ID))
		}
	}
	return append(ids, findingReplies(c.Findings)...)
}
