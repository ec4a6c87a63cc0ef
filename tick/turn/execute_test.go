package turn

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// An answer may refer to the stored prompt only, when it arrives and when the turn ends.
func TestAStoredAnswerIsReadAsItWasAccepted(t *testing.T) {
	told := prompts.Context{
		Findings: []prompts.Finding{{ID: "0011", Reviewer: "quinn", Severity: review.Major, Body: "It is slow."}},
		Review:   &prompts.Review{Reviewer: "quinn", Blocking: review.Major, Escalations: []string{"sam"}},
	}
	request, err := json.Marshal(env.Request{Context: prompts.Prepare(told)})
	if err != nil {
		t.Fatal(err)
	}
	judged := `{"decision":"approve","summary":"Fine.","body":null,"comments":[],"earlier":[{"finding":"0011","resolved":true,"note":null}],"escalate":["sam"]}`
	for _, tt := range []struct{ name, answer, refused string }{
		{"all that was asked", judged, ""},
		{"a finding that nobody asked about", strings.Replace(judged, "0011", "0022", 1), "0022"},
		{"somebody who was not offered", strings.Replace(judged, `"sam"`, `"bob"`, 1), "bob"},
	} {
		a, err := storedAnswer(work.Turn{Kind: work.KindReview, Request: request, Answer: []byte(tt.answer)})
		if (err == nil) != (tt.refused == "") || err != nil && !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil && (a.Decision != review.Approve || len(a.Earlier) != 1 || len(a.Escalate) != 1) {
			t.Errorf("%s: %+v", tt.name, a)
		}
	}
	if _, err := storedAnswer(work.Turn{Kind: work.KindReview, Answer: []byte(judged)}); err == nil {
		t.Error("an answer to nothing is read")
	}
}
