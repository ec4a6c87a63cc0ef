package prompts

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// need is a piece of the sample that a prompt must show, and how to show it.
type need struct{ mark, what string }

// needs lists what a prompt of the kind must show.
func needs(kind work.Kind) []need {
	issue := need{"sample issue body", `the issue: {{template "state_summary" .}} or {{.IssueText}}`}
	events := need{"sample event body", `what people said: {{template "events" .}} or {{.Events}}`}
	switch kind {
	case work.KindImplementationStart:
		return []need{issue, {"sample document", `the design: {{template "handoff" .}} or {{.Handoff}}`}}
	case work.KindDesignStart, work.KindBugfixStart, work.KindSmallJobStart, work.KindRoadmapStart:
		return []need{issue}
	case work.KindReview:
		return []need{
			{"sample diff", `the change: {{template "diff" .}} or {{.Diff}}`},
			{"sample persona", "the reviewer's own words: {{.Persona}}"},
			{"sample finding", "the findings that must be judged: {{.Findings}}"},
		}
	case work.KindFix:
		return []need{events, {"sample log", `the red checks: {{template "events" .}} or {{.Checks}}`}, {"sample finding", "the findings: {{.Findings}}"}, {"sample review body", "the review that asks for it: {{.FixText}}"}}
	case work.KindDesignFeedback, work.KindImplementationFeedback:
		return []need{events}
	}
	return nil
}

// SampleFor returns the sample for the agent of an adapter.
func SampleFor(adapter string) Context {
	c := Sample()
	c.Surroundings.Adapter = adapter
	return c
}

// sampleRoadmap returns a sample of a turn about a roadmap, of which no other turn is told.
func sampleRoadmap(adapter string) Context {
	c := SampleFor(adapter)
	c.Task.Document = "docs/roadmap/1-title.md"
	c.Roadmap = &Roadmap{
		Depth: 2, Run: 5, SubIssues: 3, Document: "sample present document", Below: []string{"#8: Parse the file once, completed, pull request #9 (merged)"}, Begun: []string{"parser: #8, merged"}, Why: "sample reason to replan",
		Faults: []string{"line 3: sample fault"},
	}
	return c
}

// Sample returns a context with a value in every field but Roadmap: to test prompts, and to show one
// that belongs to no item.
func Sample() Context {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	said := []Comment{{ID: 1, Author: "someone", Role: RoleWrite, Body: "sample comment", CreatedAt: at}}
	found := Finding{ID: "0123456789abcdef", CommentID: 4, Reviewer: "quinn", Cycle: 1, Path: "a/file", Line: 7, Severity: review.Major, Confidence: "high", Body: "sample finding", Answer: "sample answer"}
	other := Finding{ID: "123456789abcdef0", Reviewer: "sam", Path: "a/file", Severity: review.Critical, Confidence: "medium", Body: "sample finding of another"}
	before := Finding{ID: "23456789abcdef01", Reviewer: "quinn", Path: "a/file", Line: 6, Severity: review.Major, Confidence: "high", Body: "sample finding of before"}
	return Context{
		Task: Task{
			Repository: "owner/name", Branch: "agent/bugfix/1-title", Base: "main", BaseSHA: "0123456789abcdef0123456789abcdef01234567",
			Issue:       Issue{Number: 1, Title: "Title", Body: "sample issue body", Author: "someone", Role: RoleNone, URL: "https://github.com/owner/name/issues/1", Comments: said},
			PullRequest: &PullRequest{Number: 2, URL: "https://github.com/owner/name/pull/2", HeadSHA: "89abcdef0123456789abcdef0123456789abcdef", Base: "main"},
			Document:    "docs/design/1-title.md", ChangedFiles: []string{"a/file"}, TurnKey: "sample",
			Instructions: &Instructions{Guides: []string{"AGENTS.md", "CONTRIBUTING.md"}, Lint: []string{".editorconfig"}, PullTemplates: []string{".github/pull_request_template.md"}},
		},
		Surroundings: Surroundings{
			Adapter: "command", Shell: true, Network: NetworkUnknown, TurnSeconds: 1800, IdleSeconds: 600, RequiredTests: []string{"make", "test"}, TestSeconds: 900,
			Setup: &Setup{Command: []string{"npm", "ci"}, Made: []string{"node_modules"}, Altered: []string{"package-lock.json"}, Failure: "ended with exit code 1", Output: "sample output of the set-up"},
		},
		DecisionSummary: "sample decision",
		NewEvents:       []NewEvent{{ID: "3", Kind: work.EventReview, Author: "someone", Role: RoleWrite, Path: "a/file", Line: 7, DiffHunk: "@@ -1 +1 @@", Body: "sample event body", CreatedAt: at}},
		Unresolved:      []Unresolved{{Kind: "thread", Path: "a/file", Line: 8, Comments: said}},
		Earlier:         said,
		Handoff:         &Handoff{DocumentPath: "docs/design/1-title.md", Document: "sample document", MergeCommit: "0123456", Base: "main", Decisions: []string{"sample decision"}, Criteria: []string{"sample criterion"}},
		Parent: &Parent{Number: 9, Title: "Title", Goal: "sample goal", Before: []Predecessor{{
			Issue: "#8", Title: "Title", PullRequest: "https://github.com/owner/name/pull/10", Summary: "sample summary of the part before", MergeCommit: "0123456",
			ChangedFiles: []string{"b/file"}, Decisions: []string{"sample decision of the part before"},
		}}},
		Checks:   []Check{{Name: "test", Conclusion: "failure", Log: "sample log", Annotations: []Annotation{{Path: "a/file", Line: 9, Level: "failure", Message: "sample annotation"}}}},
		Conflict: &Conflict{Base: "main", Paths: []string{"a/file"}},
		Findings: []Finding{found},
		Review: &Review{
			Reviewer: "quinn", Persona: "sample persona", Round: 2, Cycle: 1, Since: "0123456789abcdef0123456789abcdef01234567", Diff: "sample diff",
			Blocking: review.Major, Others: []Finding{other}, Escalations: []string{"sam"}, Coming: []string{"priya"}, MergeBase: "beef5678", Guarded: true,
		},
		ReviewFix:     &ReviewFix{Reviewer: "quinn", URL: "https://github.com/owner/name/pull/2#pullrequestreview-5", Body: "sample review body", Cycle: 1, Again: true, Earlier: []Finding{before}},
		Specification: []SpecFile{{Path: ".specify/specs/1-title/spec.md", Text: "sample specification"}},
		Refused:       []string{"sample refusal"},
		Previous:      "sample attempt",
		Waited:        "sample question",
		Partial:       &Partial{Commit: "fedcba9876543210fedcba9876543210fedcba98", ChangedFiles: []string{"a/file"}},
	}
}
