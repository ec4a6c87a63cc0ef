package prompts

import (
	"slices"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

// Finding is a reviewer's finding.
type Finding struct {
	ID         string          `json:"id"`         // a review names the finding by it
	CommentID  int64           `json:"comment_id"` // a reply names the finding by it; 0: the finding is in the review's text
	Reviewer   string          `json:"reviewer"`
	Cycle      int             `json:"cycle"` // number of fixes pushed before it was found
	Path       string          `json:"path"`
	Line       int             `json:"line"` // 0: the whole file
	Severity   review.Severity `json:"severity"`
	Confidence string          `json:"confidence"` // high, medium or low; empty: a person found it
	Body       string          `json:"body"`
	Answer     string          `json:"answer"` // what the author said to it
}

// Review is the request to a reviewer.
type Review struct {
	Reviewer    string          `json:"reviewer"`          // the reviewer's name
	Persona     string          `json:"persona"`           // the operator's words about who they are
	Round       int             `json:"round"`             // how often they look, this time included
	Cycle       int             `json:"cycle"`             // fixes that were pushed
	Since       string          `json:"since"`             // the commit of their last verdict, at which the diff begins; empty: it begins at the base
	Diff        string          `json:"diff"`              // of the files that this run is shown
	Cut         []string        `json:"cut"`               // files that are not shown whole, each with its size
	Unread      []string        `json:"unread"`            // paths that the reviewer was never shown whole, in this review or an earlier one
	Beside      string          `json:"beside"`            // folder in the checkout with the whole difference and the former files; empty: there is none
	Part        int             `json:"part"`              // which of Parts this run is; 0: the only one
	Parts       int             `json:"parts"`             // runs of one review, each with other files; 0: one
	Results     []Result        `json:"results"`           // what checks and required tests said on this head
	Blocking    review.Severity `json:"blocking_severity"` // the least severity for which the reviewer may request changes
	Others      []Finding       `json:"others"`            // open findings of other reviewers
	Escalations []string        `json:"escalations"`       // reviewers whom they may call in
	Coming      []string        `json:"coming"`            // other reviewers who look at it anyway; naming one in escalate changes nothing
	MergeBase   string          `json:"merge_base"`        // where the reviewed commits begin, as in work.PullRequest
	Theirs      bool            `json:"theirs"`            // the pull request is somebody else's: it has no issue, and its author addressed no agent
	Guarded     bool            `json:"guarded"`           // the change edits files that agents obey, and the checkout has the base's
	Shares      []DiffShare     `json:"-"`                 // of a change that takes several runs: see Split
}

// Result is what a check, or the required tests, said on a head.
type Result struct {
	Name   string `json:"name"`
	Result string `json:"result"`
}

// ReviewFix is the review whose requests the turn must meet.
type ReviewFix struct {
	Reviewer string    `json:"reviewer"`
	URL      string    `json:"url"`
	Body     string    `json:"body"`    // the review's own text
	Cycle    int       `json:"cycle"`   // fixes that were pushed before
	Again    bool      `json:"again"`   // one of them was for this reviewer
	Earlier  []Finding `json:"earlier"` // blocking ones of earlier cycles
}

// SpecFile is a file of the specification.
type SpecFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Limits of a specification in one prompt.
const (
	maxSpecFiles = 30
	maxSpec      = 60000 // characters, shared by its files
	minSpec      = 100   // least room for a further file: a note that it is cut fits in
	maxPersona   = 64 << 10
	maxUnread    = 100
	maxResults   = 200
)

// UnreadPath is a path as Review.Unread has it once it is prepared, and so a verdict. Paths with
// blanks, controls or bytes that are no text are not the same any more.
func UnreadPath(path string) string { return line(path) }

// prepareFindings cuts each finding. Up to maxFindings, all are kept: the reviewer must judge each.
func prepareFindings(list []Finding) []Finding {
	out := slices.Clone(list[:min(len(list), maxFindings)])
	for i := range out {
		f := &out[i]
		severity := string(f.Severity)
		tidy(&f.ID, &f.Reviewer, &f.Path, &severity, &f.Confidence)
		f.Severity = review.Severity(severity)
		f.Body, f.Answer = said(f.Body, maxCommentBody), said(f.Answer, maxCommentBody)
	}
	if out == nil {
		out = []Finding{}
	}
	return out
}

func prepareReview(r *Review) *Review {
	if r == nil {
		return nil
	}
	out := *r
	tidy(&out.Reviewer, &out.Since, &out.MergeBase)
	out.Persona = cut(public.Visible(r.Persona), maxPersona)
	out.Diff = cut(public.Visible(r.Diff), maxDiff)
	out.Cut, out.Unread = lines(r.Cut, maxFiles), lines(r.Unread, maxUnread)
	out.Results = slices.Clone(r.Results[:min(len(r.Results), maxResults)])
	for i := range out.Results {
		tidy(&out.Results[i].Name, &out.Results[i].Result)
	}
	if out.Results == nil {
		out.Results = []Result{}
	}
	out.Others = prepareFindings(r.Others)
	out.Escalations, out.Coming = lines(r.Escalations, maxPoints), lines(r.Coming, maxPoints)
	return &out
}

func prepareReviewFix(r *ReviewFix) *ReviewFix {
	if r == nil {
		return nil
	}
	out := *r
	tidy(&out.Reviewer, &out.URL)
	out.Body = said(r.Body, maxDocument)
	out.Earlier = prepareFindings(r.Earlier)
	return &out
}

// prepareSpecification gives the room to the files in order: early files lose nothing to later
// ones.
func prepareSpecification(list []SpecFile) []SpecFile {
	out := slices.Clone(list[:min(len(list), maxSpecFiles)])
	room := maxSpec
	for i := range out {
		tidy(&out[i].Path)
		out[i].Text = cut(public.Visible(out[i].Text), max(room, minSpec))
		room -= utf8.RuneCountInString(out[i].Text)
	}
	if out == nil {
		out = []SpecFile{}
	}
	return out
}

// Unproven is why a change is not pushed yet.
type Unproven struct {
	Failure   string // a sentence without its full stop: how the required tests failed, or what is missing
	Output    string // the end of the tests' output; may be empty
	TestFiles string // a pattern: the change must have a test, and none of its paths matches; empty: tests failed
	Document  bool   // the faults of a document, which Output has
}

// RepairTests returns the prompt after a change that failed the required tests. Their output comes
// from programs of the repository: it is data, in a fence with a nonce derived from it.
func (p *Pack) RepairTests(kind work.Kind, adapter, turn string, u Unproven) (string, error) {
	u.Output = cutHead(public.Visible(u.Output), maxLog)
	nonce, err := nonceOf(Context{Task: Task{TurnKey: turn}, Previous: u.Output})
	if err != nil {
		return "", err
	}
	f, label := fencer{nonce: nonce}, "output of the tests"
	if u.Document {
		label = "faults of the document"
	}
	return p.execute(partTests, struct {
		Kind                       work.Kind
		Adapter                    string
		Reviews                    bool
		Failure, Output, TestFiles string
		Document                   bool
	}{kind, adapter, kind == work.KindReview, public.OneLine(u.Failure), f.optional(label, secrets.Redact(u.Output)), public.OneLine(u.TestFiles), u.Document})
}
