package prompts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
)

const (
	goodDesign   = `{"title":"T","summary":"S","touch_paths":["internal/x/**"],"depends_on":["#3"],"estimated_size":"M","priority":3,"design_doc":"## Why","followups":[],"blocked_reason":null,"decision_summary":"d"}`
	goodStart    = `{"pr_title":"T","pr_summary":"S","commit_message":"m","followups":[],"blocked_reason":null,"decision_summary":null}`
	goodFeedback = `{"review_replies":[{"review_comment_id":5,"body":"done","resolve":true}],"general_comment":null,"commit_message":"m","flaky_test":{"name":"TestX","reason":"timing"},"followups":[],"blocked_reason":null,"decision_summary":"d"}`
)

// with sets keys of an answer; the values are JSON.
func with(t *testing.T, answer string, pairs ...string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestGoodAnswersAreRead(t *testing.T) {
	a, v := Decode(work.KindDesignStart, []byte(goodDesign), Asked{})
	if len(v) > 0 || a.Title != "T" || a.Priority != 3 || a.EstimatedSize != "M" || a.TouchPaths[0] != "internal/x/**" || a.DependsOn[0] != "#3" || a.DesignDoc != "## Why" || a.DecisionSummary != "d" {
		t.Errorf("design %+v, %q", a, v)
	}
	a, v = Decode(work.KindBugfixStart, []byte(" \n"+goodStart+"\n"), Asked{})
	if len(v) > 0 || a.PRTitle != "T" || a.PRSummary != "S" || a.CommitMessage != "m" || a.DecisionSummary != "" {
		t.Errorf("start %+v, %q", a, v)
	}
	a, v = Decode(work.KindImplementationFeedback, []byte(goodFeedback), Asked{Replies: []int64{4, 5}})
	if len(v) > 0 || len(a.ReviewReplies) != 1 || a.ReviewReplies[0] != (ReviewReply{5, "done", true}) || a.FlakyTest.Name != "TestX" || a.GeneralComment != "" {
		t.Errorf("feedback %+v, %q", a, v)
	}
}

func TestBlockedAnswersNeedNothingElse(t *testing.T) {
	start := `{"pr_title":null,"pr_summary":null,"commit_message":null,"followups":[],"blocked_reason":"Which one?","decision_summary":null}`
	if a, v := Decode(work.KindSmallJobStart, []byte(start), Asked{}); len(v) > 0 || a.BlockedReason != "Which one?" {
		t.Errorf("start %+v, %q", a, v)
	}
	design := `{"title":null,"summary":null,"touch_paths":[],"depends_on":[],"estimated_size":null,"priority":null,"design_doc":null,"followups":[],"blocked_reason":"Why?","decision_summary":null}`
	if _, v := Decode(work.KindDesignStart, []byte(design), Asked{}); len(v) > 0 {
		t.Errorf("design %q", v)
	}
	if _, v := Decode(work.KindDesignStart, []byte(strings.Replace(design, `"Why?"`, "null", 1)), Asked{}); len(v) != 5 {
		t.Errorf("an empty design has violations %q", v)
	}
}

func TestBadAnswersAreRefusedWithTheReason(t *testing.T) {
	start, design, feedback := work.KindBugfixStart, work.KindDesignStart, work.KindImplementationFeedback
	tests := []struct {
		name string
		kind work.Kind
		raw  string
		want string
	}{
		{"empty", start, " \n", "the answer is empty"},
		{"not JSON", start, "I fixed it.", `the answer does not begin with a JSON object: it begins with "I fixed it."`},
		{"fenced", start, "```json\n" + goodStart + "\n```", "stands in a Markdown fence"},
		{"trailing text", start, goodStart + "\nDone!", `text follows the JSON object: "Done!"`},
		{"two values", start, goodStart + goodStart, "text follows the JSON object"},
		{"a list", start, "[" + goodStart + "]", "does not begin with a JSON object"},
		{"cut short", start, goodStart[:40], "the answer is not JSON"},
		{"invalid UTF-8", start, strings.Replace(goodStart, "T", "\xff", 1), "not valid UTF-8"},
		{"NUL", start, with(t, goodStart, "pr_title", `"a\u0000b"`), "answer.pr_title holds the control character U+0000"},
		{"escape sequence", start, with(t, goodStart, "pr_summary", `"\u001b[31m"`), "answer.pr_summary holds the control character U+001B"},
		{"unknown key", start, with(t, goodStart, "extra", "1"), `unknown key "extra"`},
		{"key in another case", start, with(t, goodStart, "PR_TITLE", `"x"`), `unknown key "PR_TITLE"`},
		{"missing key", start, strings.Replace(goodStart, `,"decision_summary":null`, "", 1), "decision_summary is missing"},
		{"key twice", start, strings.Replace(goodStart, `{`, `{"pr_title":"other",`, 1), `key "pr_title" stands twice`},
		{"wrong type", start, with(t, goodStart, "pr_title", "7"), `pr_title: type: 7 has type "integer", want "string"`},
		{"empty title", start, with(t, goodStart, "pr_title", `" "`), "pr_title is empty"},
		{"null summary", start, with(t, goodStart, "pr_summary", "null"), "pr_summary is empty"},
		{"no commit message", start, with(t, goodStart, "commit_message", "null"), "commit_message is empty"},
		{"blank question", start, with(t, goodStart, "blocked_reason", `" "`), "blocked_reason is blank"},
		{"title of two lines", start, with(t, goodStart, "pr_title", `"a\nb"`), "pr_title has more than one line"},
		{"title too long", start, with(t, goodStart, "pr_title", `"`+strings.Repeat("ä", 501)+`"`), "pr_title has 501 characters"},
		{"another kind's answer", design, goodStart, "title is missing"},
		{"size", design, with(t, goodDesign, "estimated_size", `"XL"`), "estimated_size: "},
		{"priority", design, with(t, goodDesign, "priority", "6"), "priority: "},
		{"priority with a fraction", design, with(t, goodDesign, "priority", "2.5"), "priority: "},
		{"absolute path", design, with(t, goodDesign, "touch_paths", `["/etc/passwd"]`), `touch_paths[0] "/etc/passwd" is absolute`},
		{"drive", design, with(t, goodDesign, "touch_paths", `["C:/x"]`), "is absolute"},
		{"home", design, with(t, goodDesign, "touch_paths", `["~/x"]`), "is absolute"},
		{"escaping path", design, with(t, goodDesign, "touch_paths", `["ok","a/../../b"]`), `touch_paths[1] "a/../../b" leaves the repository`},
		{"backslashes", design, with(t, goodDesign, "touch_paths", `["a\\b"]`), "has a backslash"},
		{"git's own folder", design, with(t, goodDesign, "touch_paths", `[".git/hooks/x"]`), "is inside .git"},
		{"empty path", design, with(t, goodDesign, "touch_paths", `[""]`), "is empty"},
		{"path of two lines", design, with(t, goodDesign, "touch_paths", `["a\nb"]`), "has more than one line"},
		{"too many paths", design, with(t, goodDesign, "touch_paths", "["+strings.Repeat(`"a",`, 200)+`"a"]`), "touch_paths has 201 entries"},
		{"dependency of two lines", design, with(t, goodDesign, "depends_on", `["a\nb"]`), "depends_on[0] must be one short line"},
		{"empty reply", feedback, with(t, goodFeedback, "review_replies", `[{"review_comment_id":5,"body":"\n","resolve":false}]`), "review_replies[0] has an empty body"},
		{"unknown key inside", feedback, with(t, goodFeedback, "review_replies", `[{"review_comment_id":5,"body":"x","resolve":false,"x":1}]`), "review_replies: "},
		{"id as text", feedback, with(t, goodFeedback, "review_replies", `[{"review_comment_id":"5","body":"x","resolve":false}]`), "review_replies: "},
		{"id with a fraction", feedback, with(t, goodFeedback, "review_replies", `[{"review_comment_id":5.0,"body":"x","resolve":false}]`), "does not fit its schema"},
		{"flaky test without a reason", feedback, with(t, goodFeedback, "flaky_test", `{"name":"x","reason":""}`), "flaky_test.reason is empty"},
		{"flaky test without a name", feedback, with(t, goodFeedback, "flaky_test", `{"name":"","reason":"x"}`), "flaky_test.name must be"},
		{"four follow-ups", start, with(t, goodStart, "followups", "["+strings.Repeat(`{"title":"T","why":"w"},`, 3)+`{"title":"T","why":"w"}]`), "followups has 4 entries; at most 3 are taken"},
		{"follow-up without a reason", feedback, with(t, goodFeedback, "followups", `[{"title":"T","why":" "}]`), "followups[0] must have a title and a why"},
		{"follow-up of two lines", design, with(t, goodDesign, "followups", `[{"title":"T","why":"w"},{"title":"a\nb","why":"w"}]`), "followups[1].title has more than one line"},
		{"long follow-up", start, with(t, goodStart, "followups", `[{"title":"T","why":"`+strings.Repeat("x", 1001)+`"}]`), "followups[0].why has 1001 characters"},
		{"follow-up with a label", start, with(t, goodStart, "followups", `[{"title":"T","why":"w","label":"x"}]`), "followups: "},
		{"no such kind", work.Kind("other"), goodStart, `there is no answer of kind "other"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, v := Decode(tt.kind, []byte(tt.raw), Asked{Replies: []int64{5}})
			if len(v) == 0 {
				t.Fatalf("accepted: %+v", a)
			}
			if !strings.Contains(strings.Join(v, "\n"), tt.want) {
				t.Errorf("\n got %q\nwant %q", v, tt.want)
			}
			if a.PRTitle != "" || a.Title != "" || a.ReviewReplies != nil {
				t.Errorf("a refused answer is not empty: %+v", a)
			}
		})
	}
}

func TestHugeAnswersAreRefusedUnread(t *testing.T) {
	raw := []byte(strings.Repeat("[", 50<<20))
	if _, v := Decode(work.KindBugfixStart, raw, Asked{}); len(v) != 1 || !strings.Contains(v[0], "at most 1048576 are read") {
		t.Errorf("got %q", v)
	}
	deep := []byte(`{"pr_title":` + strings.Repeat("[", MaxAnswer-100))
	if _, v := Decode(work.KindBugfixStart, deep, Asked{}); len(v) == 0 {
		t.Error("accepted")
	}
}

func TestRepliesToWhatWasNotAskedAreRefused(t *testing.T) {
	reply := func(ids ...int) string {
		var list []string
		for _, id := range ids {
			list = append(list, fmt.Sprintf(`{"review_comment_id":%d,"body":"x","resolve":false}`, id))
		}
		return with(t, goodFeedback, "review_replies", "["+strings.Join(list, ",")+"]")
	}
	tests := []struct {
		name  string
		asked []int64
		ids   []int
		want  string
	}{
		{"another", []int64{5, 6}, []int{5, 7}, "review_replies[1] answers review comment 7, which was not asked about; asked: 5, 6"},
		{"none asked", nil, []int{5}, "asked: none"},
		{"twice", []int64{5}, []int{5, 5}, "answers review comment 5 a second time"},
		{"zero", []int64{5}, []int{0}, "answers review comment 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, v := Decode(work.KindDesignFeedback, []byte(reply(tt.ids...)), Asked{Replies: tt.asked})
			if !strings.Contains(strings.Join(v, "\n"), tt.want) {
				t.Errorf("got %q, want %q", v, tt.want)
			}
		})
	}
	if _, v := Decode(work.KindDesignFeedback, []byte(reply(5, 6)), Asked{Replies: []int64{6, 5}}); len(v) > 0 {
		t.Errorf("got %q", v)
	}
}

func TestSecretsInAnswersAreRefusedAndNotRepeated(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	raw := with(t, goodStart, "pr_summary", `"the token is `+token+`"`)
	v := Leaks(&secrets.Redactor{}, []byte(raw))
	if len(v) != 1 || !strings.Contains(v[0], "answer.pr_summary holds what looks like a GitHub token") {
		t.Fatalf("got %q", v)
	}
	_, v = Decode(work.KindBugfixStart, []byte("oops "+token), Asked{})
	if strings.Contains(strings.Join(v, " ")+repair(t, work.KindBugfixStart, v), "ghp_") {
		t.Errorf("the violation repeats the token: %q", v)
	}
}

func TestRepairQuotesTheViolations(t *testing.T) {
	v := []string{"pr_title is empty", "two\nlines", strings.Repeat("x", 9999)}
	for range 30 {
		v = append(v, "more")
	}
	got := repair(t, work.KindBugfixStart, v)
	for _, want := range []string{"bugfix_start", "\n- pr_title is empty\n", "\n- two lines\n", "characters left out", "\n- and 13 more\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if len(got) > 4000 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{goodDesign, goodStart, goodFeedback, goodReview, "", "null", "{}", "```json\n{}\n```", `{"pr_title":"\ud800"}`, `{"a":{"a":1,"a":2}}`, "[[[[", goodStart + "x", `{"priority":1e99}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, kind := range Kinds() {
			a, v := Decode(kind, []byte(raw), Asked{Replies: []int64{5}, Findings: []Finding{{ID: "F1"}}, Escalations: []string{"lead"}})
			for _, s := range v {
				if strings.ContainsAny(s, "\n\x00") || !utf8.ValidString(s) {
					t.Errorf("violation %q", s)
				}
			}
			if len(v) > 0 {
				continue
			}
			if kind.Start() && a.BlockedReason == "" && a.PRTitle == "" && a.Title == "" {
				t.Errorf("an empty answer was accepted: %s", raw)
			}
			if kind == work.KindReview && (a.Decision != review.Approve && a.Decision != review.RequestChanges || len(a.Earlier) != 1) {
				t.Errorf("a verdict of nothing: %s", raw)
			}
			for _, name := range a.Escalate {
				if name != "lead" {
					t.Errorf("escalates to %q", name)
				}
			}
			for _, r := range a.ReviewReplies {
				if r.ReviewCommentID != 5 {
					t.Errorf("reply to %d", r.ReviewCommentID)
				}
			}
		}
	})
}

// TestNoTextOfAnAnswerIsSigned: of each kind of answer, each text is read without the signature of
// the program that wrote it, and with the words that speak of one.
func TestNoTextOfAnAnswerIsSigned(t *testing.T) {
	const said = "It says `Co-Authored-By: Claude` there.\n\n> 🤖 Generated with Claude Code"
	const signed = said + "\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)\n\nCo-Authored-By: Claude <noreply@anthropic.com>"
	texts := map[work.Kind][]string{
		work.KindDesignStart:            {"summary", "design_doc", "blocked_reason", "decision_summary"},
		work.KindBugfixStart:            {"pr_summary", "commit_message", "blocked_reason", "decision_summary", "followups.why"},
		work.KindImplementationFeedback: {"general_comment", "commit_message", "blocked_reason", "decision_summary", "review_replies.body", "flaky_test.reason"},
		work.KindReview:                 {"summary", "body", "comments.body", "earlier.note"},
	}
	whole := map[work.Kind]string{
		work.KindDesignStart: goodDesign, work.KindBugfixStart: with(t, goodStart, "followups", `[{"title":"T","why":"w"}]`),
		work.KindImplementationFeedback: with(t, goodFeedback, "flaky_test", `{"name":"TestX","reason":"r"}`),
		work.KindReview:                 `{"decision":"approve","summary":"s","body":"b","comments":[{"path":"a","line":1,"severity":"nit","confidence":"low","body":"c"}],"earlier":[{"finding":"F","resolved":true,"note":"n"}],"escalate":[]}`,
	}
	for kind, keys := range texts {
		for _, key := range keys {
			var answer map[string]any
			if err := json.Unmarshal([]byte(whole[kind]), &answer); err != nil {
				t.Fatal(err)
			}
			put(answer, key, signed)
			raw, err := json.Marshal(answer)
			if err != nil {
				t.Fatal(err)
			}
			asked := Asked{Replies: []int64{5}}
			if kind == work.KindReview {
				asked = Asked{Findings: []Finding{{ID: "F"}}}
			}
			got, v := Decode(kind, raw, asked)
			if len(v) > 0 {
				t.Fatalf("%s, %s: %v", kind, key, v)
			}
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "noreply@anthropic.com") || !strings.Contains(string(text), "🤖 Generated with Claude Code\"") {
				t.Errorf("%s, %s: %s", kind, key, text)
			}
		}
	}
	if _, v := Decode(work.KindBugfixStart, []byte(with(t, goodStart, "pr_summary", `"🤖 Generated with Claude Code"`)), Asked{}); len(v) != 1 || !strings.Contains(v[0], "pr_summary is empty") {
		t.Errorf("a text that is nothing but a signature: %v", v)
	}
}

// put sets a text of an answer; "comments.body" is one in the list's or object's entry.
func put(answer map[string]any, key, text string) {
	name, below, deeper := strings.Cut(key, ".")
	if !deeper {
		answer[name] = text
		return
	}
	switch v := answer[name].(type) {
	case []any:
		put(v[0].(map[string]any), below, text)
	case map[string]any:
		put(v, below, text)
	}
}
