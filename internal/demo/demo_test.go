package demo

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
)

// checkout is the demo's repository as an agent finds it.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range program {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runAgent runs the agent and decodes its answer as a pass does.
func runAgent(t *testing.T, dir string, kind work.Kind, c prompts.Context, asked ...int64) prompts.Answer {
	t.Helper()
	in, err := json.Marshal(request{Turn: "abc", Kind: kind, Context: c})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Agent(bytes.NewReader(in), &out, dir, filepath.Join(dir, "agent.log")); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	var doc struct {
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	a, violations := prompts.Decode(kind, doc.Answer, prompts.Asked{Replies: asked, Findings: c.Findings, Below: c.Parent != nil})
	if len(violations) > 0 {
		t.Fatalf("%s: %q in %s", kind, violations, doc.Answer)
	}
	return a
}

func readAll(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAgentKeepsTheRules(t *testing.T) {
	dir := checkout(t)
	if a := runAgent(t, dir, work.KindBugfixStart, prompts.Context{}); a.PRTitle == "" || a.CommitMessage == "" {
		t.Errorf("bugfix_start: %+v", a)
	}
	comments := prompts.Context{NewEvents: []prompts.NewEvent{{ID: "7", Kind: work.EventReview}, {ID: "8", Kind: work.EventIssue}}}
	a := runAgent(t, dir, work.KindImplementationFeedback, comments, 7)
	if len(a.ReviewReplies) != 1 || a.ReviewReplies[0].ReviewCommentID != 7 || a.GeneralComment == "" || a.CommitMessage != "Give the default a name, test it" {
		t.Errorf("implementation_feedback: %+v", a)
	}
	if got := readAll(t, dir, "greet.sh"); !strings.Contains(got, "name=${1:-$everybody}") {
		t.Errorf("greet.sh:\n%s", got)
	}
	if got := readAll(t, dir, "test.sh"); !strings.Contains(got, "check 'Hello, world!'\n") {
		t.Errorf("test.sh:\n%s", got)
	}
	runAgent(t, dir, work.KindSmallJobStart, prompts.Context{})
	if got := readAll(t, dir, "README.md"); !strings.Contains(got, "## Use") {
		t.Errorf("README.md:\n%s", got)
	}
	if a := runAgent(t, dir, work.KindRoadmapStart, prompts.Context{}); len(a.Nodes) != len(farewell) {
		t.Errorf("roadmap_start: %+v", a)
	}
	runAgent(t, dir, work.KindFix, prompts.Context{ReviewFix: &prompts.ReviewFix{Reviewer: "quinn"}, Findings: []prompts.Finding{{ID: "a", CommentID: 9}}}, 9)
	for _, file := range []edit{testLanguage, addLanguage} { // as the design's implementation leaves them
		if err := file.apply(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range farewell {
		below := prompts.Context{Task: prompts.Task{Issue: prompts.Issue{Title: n.title}}, Parent: &prompts.Parent{Number: 8}}
		if a := runAgent(t, dir, work.KindSmallJobStart, below); a.PRTitle != n.title {
			t.Errorf("%s: %+v", n.id, a)
		}
	}
	if got := readAll(t, dir, byeFile); !strings.Contains(got, "for name") {
		t.Errorf("%s:\n%s", byeFile, got)
	}
	if a := runAgent(t, dir, work.KindDesignStart, prompts.Context{}); a.DesignDoc == "" || len(a.TouchPaths) == 0 {
		t.Errorf("design_start: %+v", a)
	}
	design := prompts.Context{Task: prompts.Task{Document: "README.md"}, NewEvents: []prompts.NewEvent{{ID: "9", Kind: work.EventSummary}}}
	if a := runAgent(t, dir, work.KindDesignFeedback, design); a.GeneralComment == "" {
		t.Errorf("design_feedback: %+v", a)
	}
	if got := readAll(t, dir, "README.md"); !strings.HasSuffix(got, designAnswer) {
		t.Errorf("the document:\n%s", got)
	}
	if got := strings.Count(readAll(t, dir, "agent.log"), " abc\n"); got != 10 {
		t.Errorf("the agent's log has %d runs", got)
	}
}

// A reviewer sees what is wrong, by looking, and that it is fixed.
func TestReviewerLooks(t *testing.T) {
	dir := checkout(t)
	task := prompts.Task{Issue: prompts.Issue{Number: jobIssue}}
	look := prompts.Context{Task: task, Review: &prompts.Review{Reviewer: "quinn"}}
	if a := runAgent(t, dir, work.KindReview, look); a.Decision != review.Approve || len(a.Comments) != 0 {
		t.Errorf("nothing is wrong: %+v", a)
	}
	runAgent(t, dir, work.KindSmallJobStart, prompts.Context{Task: task})
	a := runAgent(t, dir, work.KindReview, look)
	if a.Decision != review.RequestChanges || len(a.Comments) != 1 || a.Comments[0].Path != readme {
		t.Fatalf("what cannot be run: %+v", a)
	}
	lines := strings.Split(readAll(t, dir, readme), "\n")
	if got := lines[a.Comments[0].Line-1]; !strings.Contains(got, "./greet.sh") {
		t.Errorf("it names line %d: %q", a.Comments[0].Line, got)
	}
	demand := prompts.Context{
		Task: task, ReviewFix: &prompts.ReviewFix{Reviewer: "quinn"}, Findings: []prompts.Finding{{ID: "a", CommentID: 9, Path: readme}},
	}
	if a := runAgent(t, dir, work.KindFix, demand, 9); len(a.ReviewReplies) != 1 || a.CommitMessage == "" {
		t.Errorf("fix: %+v", a)
	}
	look.Findings = demand.Findings
	if a := runAgent(t, dir, work.KindReview, look); a.Decision != review.Approve || len(a.Earlier) != 1 || !a.Earlier[0].Resolved {
		t.Errorf("looked at again: %+v", a)
	}
}

func TestAgentKnowsNoOtherRepository(t *testing.T) {
	dir := checkout(t)
	for _, in := range []string{
		`{"kind":"bugfix_start"}`, `{"kind":"bugfix_start"}`, // the second finds the bug fixed
		`{"kind":"small_job_start","context":{"parent":{"number":8}}}`, // the issue of no node
		`{"kind":"review"}`, `{"kind":"review","context":{"review":{"reviewer":"quinn"}}}`, `{"kind":"fix"}`, `{`,
	} {
		var out bytes.Buffer
		err := Agent(strings.NewReader(in), &out, dir, filepath.Join(dir, "agent.log"))
		if first := out.Len() > 0; (err == nil) != first {
			t.Errorf("%s: %v, %q", in, err, &out)
		} else if first && in != `{"kind":"bugfix_start"}` {
			t.Errorf("%s was answered", in)
		}
	}
	if got := strings.Count(readAll(t, dir, "greet.sh"), "world"); got != 1 {
		t.Errorf("the bug was fixed %d times", got)
	}
}

// TestImproviserPlansARoadmap: of any issue, and its pull request is commented on without a word in its document.
func TestImproviserPlansARoadmap(t *testing.T) {
	dir := checkout(t)
	for _, in := range []request{
		{Kind: work.KindRoadmapStart, Context: prompts.Context{Task: prompts.Task{Issue: prompts.Issue{Number: 5, Title: "Two rooms"}}}},
		{Kind: work.KindDesignFeedback, Context: prompts.Context{
			Task: prompts.Task{Issue: prompts.Issue{Number: 5}, Document: "README.md"}, NewEvents: []prompts.NewEvent{{ID: "9", Kind: work.EventSummary, Body: "Shorter"}},
		}},
	} {
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := Improviser(bytes.NewReader(b), &out, dir, filepath.Join(dir, "agent.log")); err != nil {
			t.Fatalf("%s: %v", in.Kind, err)
		}
		var doc struct {
			Answer json.RawMessage `json:"answer"`
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if _, violations := prompts.Decode(in.Kind, doc.Answer, prompts.Asked{}); len(violations) > 0 {
			t.Errorf("%s: %q in %s", in.Kind, violations, doc.Answer)
		}
	}
	if got := readAll(t, dir, "README.md"); got != program["README.md"] {
		t.Errorf("the document:\n%s", got)
	}
}

// TestImproviserKeepsBothSides: a pull request that conflicts with its base, or whose check is red, is mended.
func TestImproviserKeepsBothSides(t *testing.T) {
	for _, both := range []string{"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", "<<<<<<< ours\na\n||||||| base\nc\n=======\nb\n>>>>>>> theirs\n"} {
		name := filepath.Join(t.TempDir(), "f")
		if err := errors.Join(os.WriteFile(name, []byte("1\n"+both+"2\n"), 0o644), keepBoth(name)); err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, name); got != "1\na\nb\n2\n" {
			t.Errorf("%q became %q", both, got)
		}
	}
	dir := checkout(t)
	conflict := request{Kind: work.KindFix, Context: prompts.Context{
		Conflict:  &prompts.Conflict{Base: "main", Paths: []string{"README.md", "deleted"}},
		NewEvents: []prompts.NewEvent{{Kind: work.EventConflict}}, Checks: []prompts.Check{{Name: "ci"}},
	}}
	answer, err := merged(conflict, dir)
	if err != nil || answer["general_comment"] == nil || !strings.Contains(readAll(t, dir, notebook), "- the check ci was red\n") {
		t.Errorf("%v, %v", answer, err)
	}
}

func TestFolder(t *testing.T) {
	base := t.TempDir()
	dir, remove, err := makeFolder(filepath.Join(base, "a", "b"))
	if err != nil || dir != filepath.Join(base, "a", "b") {
		t.Fatalf("%q, %v", dir, err)
	}
	if again, _, err := makeFolder(dir); err != nil || again != dir {
		t.Errorf("an empty folder: %q, %v", again, err)
	}
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil || readAll(t, mine) != "precious" {
		t.Errorf("a folder to keep was not kept: %v", err)
	}
	for _, full := range []string{dir, mine} {
		if _, _, err := makeFolder(full); err == nil {
			t.Errorf("%s was taken", full)
		}
	}
	t.Setenv("TMPDIR", base)
	dir, remove, err = makeFolder("")
	if err != nil || !strings.HasPrefix(dir, base) {
		t.Fatalf("%q, %v", dir, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder of its own stays behind")
	}
}

// The demo's claims can fail.
func TestChecksCanFail(t *testing.T) {
	d := &demo{dir: t.TempDir()}
	log := func(lines string) {
		if err := os.WriteFile(d.path("agent.log"), []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log("bugfix_start a\nsmall_job_start b\n")
	if err := d.sees().paidOnce(2); err != nil {
		t.Error(err)
	}
	if err := d.sees().paidOnce(3); err == nil {
		t.Error("a turn too few is not seen")
	}
	log("bugfix_start a\nsmall_job_start b\nbugfix_start a\n")
	if err := d.sees().paidOnce(2); err == nil {
		t.Error("a turn that was paid twice is not seen")
	}
	plan := []planLine{{Number: 1, What: "turn", Kind: work.KindBugfixStart}, {Number: 2, What: "notice"}}
	if err := planned(plan, "turn", "#1 bugfix_start"); err != nil {
		t.Error(err)
	}
	if planned(plan, "turn") == nil || planned(plan, "resume", "#1 bugfix_start") == nil {
		t.Error("another plan is not seen")
	}
}

func TestPrints(t *testing.T) {
	var b bytes.Buffer
	d := &demo{out: terminal.Output{W: terminal.NewScreen(&b), Color: true}}
	for line := range strings.Lines("diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@ x\n same\n-old\n+new\n\n") {
		d.diffLine(strings.TrimSuffix(line, "\n"))
	}
	want := "      \x1b[1mf\x1b[m\n       same\n      \x1b[31m-old\x1b[m\n      \x1b[32m+new\x1b[m\n\n"
	if b.String() != want {
		t.Errorf("diff:\n%q\n%q", b.String(), want)
	}
	if got := visible("Done.\n\n<!-- mergexo-handled:a b -->\n<!-- mergexo-action:c -->"); got != "Done." {
		t.Errorf("visible: %q", got)
	}
	if m := headline().FindStringSubmatch(visible("<!-- a -->\n**quinn approves.** Fine. **Not bold.**")); m == nil || m[1] != approves {
		t.Errorf("headline: %q", m)
	}
	if m := headline().FindStringSubmatch("Done, **quinn approves.**"); m != nil {
		t.Errorf("what is no review was taken for one: %q", m)
	}
	got := passRequests{Reads: 1, Unchanged: 2, GraphQL: 3, Writes: 4}.row("7", "x")
	if want := []string{"7", "x", "1", "2", "3", "4", "10"}; !slices.Equal(got, want) {
		t.Errorf("row: %q", got)
	}
}

// TestTheStoryFitsTheTerminal: prose and tables of the demo are as wide as the terminal at most.
func TestTheStoryFitsTheTerminal(t *testing.T) {
	var b bytes.Buffer
	d := &demo{out: terminal.Output{W: &b, TTY: true, Width: 50}}
	d.say("  %s", strings.Repeat("a sentence about a pass ", 9))
	d.did("ann", "comments on greet.sh:5 of a pull request with a long name", strings.Repeat("please do it ", 9))
	d.columns([][]string{{"ISSUE", "FLOW", "PULL REQUEST", "COMMITS", "TITLE"}, {"#1", "bugfix", "#4 merged", "2", "Greet the world when nobody is named"}})
	for line := range strings.Lines(b.String()) {
		if len(line) > 51 {
			t.Errorf("%q has %d columns", line, len(line)-1)
		}
	}
}
