package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

const head = "0123456789012345678901234567890123456789"

// reviewing returns a turn in which quinn reviews a second time.
func reviewing(t *testing.T, told prompts.Context) *env.Lease {
	t.Helper()
	key := review.DueKey(2, review.Due{Reviewer: "quinn", Cycle: 1, Head: head})
	e, _ := work.EventOfKey(key)
	request, err := json.Marshal(env.Request{Context: prompts.Prepare(told)})
	if err != nil {
		t.Fatal(err)
	}
	return &env.Lease{
		Repo: &env.Repo{Remote: env.Remote{Name: work.RepoName{Host: "github.com", Owner: "o", Name: "n"}}}, Events: []work.Event{e},
		Turn:  work.Turn{Kind: work.KindReview, Reviewer: "quinn", Number: 2, Key: "k", Head: head, EventKeys: []string{key}, Request: request},
		Lines: git.Lines{"a.go": {{First: 3, Last: 9}}}, Disclosure: "Written by an agent.",
	}
}

func said(path string, line int, s review.Severity, body string) prompts.ReviewComment {
	return prompts.ReviewComment{Path: path, Line: line, Severity: s, Confidence: "high", Body: body}
}

func TestAReviewIsOneAction(t *testing.T) {
	l := reviewing(t, prompts.Context{
		Findings: []prompts.Finding{{ID: "00aa", Path: "a.go", Line: 5, Severity: review.Major, Body: "It leaks."}, {ID: "00bb", Path: "b.go", Severity: review.Minor, Body: "Odd."}},
		Review:   &prompts.Review{Reviewer: "quinn", Blocking: review.Major},
	})
	planned := planActions(l, prompts.Answer{
		Decision: review.RequestChanges, Summary: "It still leaks. @bob", Body: "See below.\n<!-- mergexo-action:x -->", Escalate: []string{"sam"},
		Comments: []prompts.ReviewComment{
			said("a.go", 4, review.Critical, "Wrong here."), said("a.go", 10, review.Major, "Wrong there."), said("a.go", 3, review.Nit, "A taste."),
			said("a.go", 5, review.Major, "It   leaks."),
		},
		Earlier: []prompts.Judgement{{Finding: "00aa", Note: "Nothing changed."}, {Finding: "00bb", Resolved: true}},
	})
	if len(planned) != 1 || planned[0].Kind != work.ActionReview || planned[0].Need != work.NeedRequired {
		t.Fatalf("planned %+v", planned)
	}
	a := planned[0]
	if a.Target != "quinn" || a.Head != head || a.Title != "request_changes" || a.Token != work.ReviewToken(l.Repo.Row.Key(), 2, "quinn", head, 1) {
		t.Errorf("%+v", a)
	}
	remarks, err := review.DecodeRemarks(a.Extra)
	if err != nil || len(remarks.OnLines) != 1 || remarks.OnLines[0].Line != 4 {
		t.Fatalf("comments %+v, %v", remarks, err)
	}
	own, ok := work.ParseMarks(remarks.OnLines[0].Body)
	x, found := review.ParseFinding(own.Finding)
	if !ok || !found || own.Token != work.FindingToken(l.Repo.Row.Key(), 2, "quinn", head, 1, 0) || x.ID != review.FindingID(own.Token) || x.Severity != review.Critical || x.Reviewer != "quinn" {
		t.Errorf("the comment on a line is marked %+v, %+v", own, x)
	}
	for _, want := range []string{"**quinn requests changes.** It still leaks.", "`a.go:10`", "Wrong there.", "`a.go:3`", "`a.go:5` is still open: Nothing changed.", "`b.go` is done", "\n\nWritten by an agent.\n\n<!-- mergexo-handled:"} {
		if !strings.Contains(a.Body, want) {
			t.Errorf("the review does not say %q:\n%s", want, a.Body)
		}
	}
	if strings.Contains(a.Body, "Wrong here.") || strings.Contains(a.Body, "@bob") || strings.Count(a.Body, "leaks.") != 1 || !strings.Contains(remarks.Whole, "Wrong here.") {
		t.Errorf("the review says\n%s\nand as a whole\n%s", a.Body, remarks.Whole)
	}
	for body, inBody := range map[string]int{a.Body: 2, remarks.Whole: 3} {
		m, ok := work.ParseMarks(body)
		v, resolved, marked, read := review.ParseMark(m.Review)
		if !ok || !read || m.Token != a.Token || len(m.Handled) != 1 || len(marked) != inBody || !slices.Equal(resolved, []string{"00bb"}) {
			t.Errorf("marks %+v, %v resolved, %d findings", m, resolved, len(marked))
		}
		if v.Reviewer != "quinn" || v.Head != head || v.Cycle != 1 || v.Count != 3 || v.Highest != review.Critical || !slices.Equal(v.CalledIn, []string{"sam"}) {
			t.Errorf("the verdict is marked %+v", v)
		}
	}
	r := readReview(l, l.StoredContext(), prompts.Answer{Decision: review.Approve})
	if r.Verdict.Decision != review.Approve || r.Verdict.Highest != "" || r.Findings != nil {
		t.Errorf("%+v", r)
	}
}

// A review of the largest allowed answer: long texts are cut, and the marker is kept.
func TestAReviewFits(t *testing.T) {
	testhome.NotShort(t)
	l := reviewing(t, prompts.Context{Review: &prompts.Review{Reviewer: "quinn"}})
	a := prompts.Answer{Decision: review.RequestChanges, Summary: strings.Repeat("ä", 70000), Body: "```\n" + strings.Repeat("x", 70000)}
	for i := range 99 {
		a.Comments = append(a.Comments, said(strings.Repeat("漢/", 140)+fmt.Sprint(i), i, review.Major, strings.Repeat("漢", 3000)))
	}
	a.Comments = append(a.Comments, said("a.go", 4, review.Major, strings.Repeat("y", 70000)))
	planned := planActions(l, a)
	remarks, err := review.DecodeRemarks(planned[0].Extra)
	if err != nil || len(remarks.OnLines) != 1 {
		t.Fatalf("%d comments, %v", len(remarks.OnLines), err)
	}
	for _, body := range []string{planned[0].Body, remarks.Whole, remarks.OnLines[0].Body} {
		if n := utf8.RuneCountInString(body); n > prompts.MaxBody {
			t.Errorf("%d characters", n)
		}
		if m, ok := work.ParseMarks(body); !ok || m.Review == "" && m.Finding == "" {
			t.Errorf("ends in %.200q", body[len(body)-200:])
		}
	}
}

// Findings are answered in their threads, and the commit names its review.
func TestAFixOfAReview(t *testing.T) {
	key := review.FixKey(2, review.FixDue{ReviewID: 4000000001, Cycle: 1})
	e, _ := work.EventOfKey(key)
	l := reviewing(t, prompts.Context{
		Findings:  []prompts.Finding{{ID: "00aa", CommentID: 71, Reviewer: "quinn", Body: "It leaks."}, {ID: "00bb", Reviewer: "quinn", Body: "Odd."}},
		ReviewFix: &prompts.ReviewFix{Reviewer: "quinn", URL: "https://github.com/o/n/pull/2#pullrequestreview-4000000001"},
	})
	l.Turn.Kind, l.Turn.Commit, l.Turn.EventKeys, l.Events = work.KindFix, strings.Repeat("b", 40), []string{key}, []work.Event{e}
	a := prompts.Answer{ReviewReplies: []prompts.ReviewReply{{ReviewCommentID: 71, Body: "Closed it.", Resolve: true}}, GeneralComment: "And the odd thing.", CommitMessage: "Close the file"}
	var kinds []work.ActionKind
	planned := planActions(l, a)
	for _, p := range planned {
		kinds = append(kinds, p.Kind)
	}
	if want := []work.ActionKind{work.ActionPush, work.ActionReply, work.ActionResolve, work.ActionComment}; !slices.Equal(kinds, want) {
		t.Fatalf("planned %v", kinds)
	}
	if planned[1].Target != "71" || planned[2].Target != "71" {
		t.Errorf("%+v, %+v", planned[1], planned[2])
	}
	if got, want := commitMessage(l, a), "Close the file\n\nReview: https://github.com/o/n/pull/2#pullrequestreview-4000000001"; got != want {
		t.Errorf("message %q", got)
	}
	if got := commitMessage(l, prompts.Answer{}); !strings.HasPrefix(got, "Address the review of quinn\n\n") {
		t.Errorf("message %q", got)
	}
	if got := reviewTrailer(l); got != "Mergexo-Review: quinn 4000000001" {
		t.Errorf("trailer %q", got)
	}
	again := *l
	again.Turn.EventKeys = []string{review.FixKey(2, review.FixDue{ReviewID: 4000000002, Cycle: 2})}
	if next := planActions(&again, a); next[1].Token == planned[1].Token {
		t.Error("a second fix answers no finding that is still open")
	}
	again.Turn.Request = []byte(`{}`) // a person's review without line comments
	if next := planActions(&again, prompts.Answer{CommitMessage: "Close the file"}); len(next) != 2 || !strings.HasPrefix(next[1].Body, "Pushed a change: Close the file") {
		t.Errorf("whoever asked in the review's text is told %+v", next)
	}
	l.Turn.Commit, a = "", prompts.Answer{ReviewReplies: a.ReviewReplies}
	if planned = planActions(l, a); len(planned) != 1 || planned[0].Kind != work.ActionReply {
		t.Fatalf("a fix that changes nothing answers, and closes no thread: %+v", planned)
	}
	if m, _ := work.ParseMarks(planned[0].Body); !slices.Equal(m.Handled, []string{key}) {
		t.Errorf("the last word handles %v", m.Handled)
	}
}
