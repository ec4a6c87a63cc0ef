package prompts

import (
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

const goodReview = `{"decision":"request_changes","summary":"S","body":null,"comments":[{"path":"a.go","line":3,"severity":"major","confidence":"high","body":"Wrong."}],"earlier":[{"finding":"F1","resolved":true,"note":null}],"escalate":["lead"]}`

// ofReview is what a reviewer was asked about: one earlier finding.
func ofReview(severity, least review.Severity) Asked {
	return Asked{Findings: []Finding{{ID: "F1", Severity: severity}}, Escalations: []string{"lead"}, Blocking: least}
}

func TestReviewsAreRead(t *testing.T) {
	a, v := Decode(work.KindReview, []byte(goodReview), ofReview(review.Major, ""))
	want := ReviewComment{"a.go", 3, review.Major, "high", "Wrong."}
	if len(v) > 0 || a.Decision != review.RequestChanges || a.Summary != "S" || a.Comments[0] != want || a.Earlier[0] != (Judgement{"F1", true, ""}) || a.Escalate[0] != "lead" {
		t.Errorf("%+v, %q", a, v)
	}
	approve := with(t, goodReview, "decision", `"approve"`, "comments", `[{"path":"a.go","line":null,"severity":"nit","confidence":"low","body":"x"}]`)
	if a, v := Decode(work.KindReview, []byte(approve), ofReview(review.Major, "")); len(v) > 0 || a.Comments[0].Line != 0 {
		t.Errorf("%+v, %q", a, v)
	}
}

func TestReviewsOfWhatWasNotAskedAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ key, value, want string }{
		"another finding":         {"earlier", `[{"finding":"F1","resolved":true,"note":null},{"finding":"F2","resolved":true,"note":null}]`, `names finding "F2", which was not asked about`},
		"a finding twice":         {"earlier", `[{"finding":"F1","resolved":true,"note":null},{"finding":"F1","resolved":false,"note":null}]`, "a second time"},
		"a finding left out":      {"earlier", `[]`, `earlier says nothing about finding "F1"`},
		"another reviewer":        {"escalate", `["owner"]`, `escalate[0] "owner" was not offered; offered: lead`},
		"another verdict":         {"decision", `"merge"`, "decision: "},
		"out of the repository":   {"comments", `[{"path":"../x","line":1,"severity":"major","confidence":"high","body":"x"}]`, "leaves the repository"},
		"negative line":           {"comments", `[{"path":"x","line":-1,"severity":"major","confidence":"high","body":"x"}]`, "line is -1"},
		"empty comment":           {"comments", `[{"path":"x","line":1,"severity":"major","confidence":"high","body":" "}]`, "has an empty body"},
		"an older severity":       {"comments", `[{"path":"x","line":1,"severity":"blocking","confidence":"high","body":"x"}]`, "comments: "},
		"no confidence":           {"comments", `[{"path":"x","line":1,"severity":"major","body":"x"}]`, "comments: "},
		"another confidence":      {"comments", `[{"path":"x","line":1,"severity":"major","confidence":"sure","body":"x"}]`, "comments: "},
		"no summary":              {"summary", `""`, "summary is empty"},
		"a key of another answer": {"blocked_reason", `null`, `unknown key "blocked_reason"`},
	} {
		t.Run(name, func(t *testing.T) {
			a, v := Decode(work.KindReview, []byte(with(t, goodReview, c.key, c.value)), ofReview(review.Major, review.Major))
			if !strings.Contains(strings.Join(v, "\n"), c.want) || a.Decision != "" {
				t.Errorf("got %+v, %q, want %q", a, v, c.want)
			}
		})
	}
}

// TestAVerdictMustFollowFromItsFindings: changes are requested for what is bad enough,
// found now or open still, and nothing of that kind is approved.
func TestAVerdictMustFollowFromItsFindings(t *testing.T) {
	const mismatch, nothing = "decision is approve, with", "say what must change, or approve"
	for name, c := range map[string]struct {
		decision, severity string // of the verdict, of its one comment; no severity: no comment
		earlier            review.Severity
		resolved           string
		least              review.Severity
		want               string
	}{
		"a major one":                         {"request_changes", "major", review.Major, "true", "", ""},
		"a critical one":                      {"request_changes", "critical", review.Major, "true", review.Major, ""},
		"a minor one":                         {"request_changes", "minor", review.Major, "true", review.Major, nothing},
		"a minor one that counts":             {"request_changes", "minor", review.Major, "true", review.Minor, ""},
		"a nit that counts":                   {"request_changes", "nit", review.Major, "true", review.Nit, ""},
		"a major one that does not":           {"request_changes", "major", review.Major, "true", review.Critical, nothing},
		"an earlier one is open":              {"request_changes", "", review.Major, "false", review.Major, ""},
		"an earlier nit is open":              {"request_changes", "", review.Nit, "false", review.Major, nothing},
		"nothing":                             {"request_changes", "", review.Major, "true", review.Major, nothing},
		"approved with a minor one":           {"approve", "minor", review.Major, "true", review.Major, ""},
		"approved with a major one":           {"approve", "major", review.Major, "true", review.Major, mismatch},
		"approved with a minor one, counted":  {"approve", "minor", review.Major, "true", review.Minor, mismatch},
		"approved with an earlier one open":   {"approve", "", review.Critical, "false", review.Major, mismatch},
		"approved with an earlier minor open": {"approve", "", review.Minor, "false", review.Major, ""},
	} {
		t.Run(name, func(t *testing.T) {
			comments := `[]`
			if c.severity != "" {
				comments = `[{"path":"a.go","line":3,"severity":"` + c.severity + `","confidence":"high","body":"x"}]`
			}
			raw := with(t, goodReview, "decision", `"`+c.decision+`"`, "comments", comments, "earlier", `[{"finding":"F1","resolved":`+c.resolved+`,"note":null}]`)
			_, v := Decode(work.KindReview, []byte(raw), ofReview(c.earlier, c.least))
			if said := strings.Join(v, "\n"); !strings.Contains(said, c.want) || (c.want == "") != (said == "") {
				t.Errorf("got %q, want %q", said, c.want)
			}
		})
	}
}

// TestEachFindingIsAnsweredByAFix: in its thread, where it has one.
func TestEachFindingIsAnsweredByAFix(t *testing.T) {
	c := Prepare(Context{Findings: []Finding{{ID: "F1", CommentID: 5, Reviewer: "quinn", Body: "Wrong."}, {ID: "F2", Reviewer: "quinn", Body: "Also wrong."}}})
	asked := AskedOf(work.KindFix, c)
	if !slices.Equal(asked.Replies, []int64{5}) {
		t.Errorf("replies %v", asked.Replies)
	}
	_, v := Decode(work.KindFix, []byte(emptyFeedback), asked)
	if len(v) != 2 || !strings.Contains(v[0], `review comment 5 by quinn ("Wrong.") has no reply`) || !strings.Contains(v[1], `finding F2 by quinn ("Also wrong.") has no answer`) {
		t.Errorf("got %q", v)
	}
	whole := with(t, emptyFeedback, "review_replies", `[{"review_comment_id":5,"body":"Done.","resolve":true}]`, "general_comment", `"Done."`)
	if _, v := Decode(work.KindFix, []byte(whole), asked); len(v) > 0 {
		t.Errorf("refused: %q", v)
	}
}

// TestOnlyASecondFixIsToldToTakeAnotherWay, and checks need no review's words.
func TestOnlyASecondFixIsToldToTakeAnotherWay(t *testing.T) {
	const asks, again = "quinn requests changes. A fix has a test that fails without it.", "Your last approach did not satisfy them: take another."
	first, checks := Sample(), Sample()
	first.ReviewFix.Again = false
	checks.ReviewFix = nil
	for name, c := range map[string]struct {
		of          Context
		asks, again bool
	}{"the first": {first, true, false}, "the second": {Sample(), true, true}, "checks": {checks, false, false}} {
		text := words(t, work.KindFix, c.of)
		if strings.Contains(text, asks) != c.asks || strings.Contains(text, again) != c.again {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestWhatAReviewIsAskedAbout(t *testing.T) {
	asked := AskedOf(work.KindReview, Prepare(handed()))
	if len(asked.Findings) != 1 || asked.Findings[0].ID != "F7" || !slices.Equal(asked.Escalations, []string{"lead"}) || asked.Blocking != review.Minor || asked.Replies != nil {
		t.Errorf("asked %+v", asked)
	}
	if asked := AskedOf(work.KindReview, Context{}); len(asked.Findings) > 0 || asked.Blocking != "" {
		t.Errorf("of nothing: %+v", asked)
	}
}

// A verdict is paid for: it is not thrown away because it calls in somebody who looks anyway.
func TestWhoLooksAnywayMayBeNamed(t *testing.T) {
	c := Sample()
	c.Review.Escalations, c.Review.Coming = []string{"lead"}, []string{"sam"}
	for name, fine := range map[string]bool{"lead": true, "sam": true, "owner": false} {
		var check checker
		check.escalate([]string{name}, AskedOf(work.KindReview, c).Escalations, AskedOf(work.KindReview, c).Coming)
		if said := check.out; (len(said) == 0) != fine {
			t.Errorf("%s: %v", name, said)
		}
	}
}
