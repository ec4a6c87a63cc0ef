package turn

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// What an agent opens has the whole line and what it writes elsewhere a short one, each once, however
// long the text and however many events the body names. Agents see their texts without it.
func TestTheLineBelowAnAgentsWordsStays(t *testing.T) {
	testhome.NotShort(t)
	whole, short := disclose(config.DefaultDisclosure, "codex (gpt-5)", "olga"), work.Signature("codex (gpt-5)")
	if !strings.Contains(whole, "Written by codex (gpt-5)") || !strings.Contains(whole, "on behalf of @olga.") || short != "<sub>gh mergexo · codex (gpt-5)</sub>" {
		t.Fatalf("the lines are %q and %q", whole, short)
	}
	for _, text := range []string{"short", strings.Repeat("ä", 70000), "```\n" + strings.Repeat("x", 70000)} {
		for _, keys := range []int{0, 1, 3000} {
			for kind, line := range map[work.Kind]string{work.KindBugfixStart: whole, work.KindImplementationFeedback: short} {
				l := &env.Lease{Repo: &env.Repo{}, Item: work.Item{Number: 7, Flow: work.FlowBugfix}, Signature: short}
				if kind.Start() {
					l.Disclosure = whole
				}
				l.Turn = work.Turn{Kind: kind, Commit: strings.Repeat("b", 40), EventKeys: slices.Repeat([]string{"7:source:1000000000:0123456789abcdef"}, keys)}
				planned := planActions(l, prompts.Answer{PRTitle: "T", PRSummary: text, GeneralComment: text, CommitMessage: "m"})
				body := planned[len(planned)-1].Body
				if n := utf8.RuneCountInString(body); n > prompts.MaxBody || strings.Count(body, "\n\n"+line+"\n\n<!-- mergexo-") != 1 || strings.Count(body, "<sub>") != 1 {
					t.Errorf("%s, %d keys: %d characters, ends in %.200q", kind, keys, n, body[max(0, len(body)-600):])
				}
				marks, ok := work.ParseMarks(body)
				if !ok || (len(marks.Handled) > 0) != (keys > 0) {
					t.Errorf("%s, %d keys: %d handled, %v", kind, keys, len(marks.Handled), ok)
				}
				if bare := work.Unmarked(body); !kind.Start() && strings.Contains(bare, "gh mergexo") {
					t.Errorf("%s: an agent is shown %.300q", kind, bare[max(0, len(bare)-400):])
				}
			}
		}
	}
}

// The agent is named with its model, of which only a plain name is taken: the program says it.
func TestWhomTheLineNames(t *testing.T) {
	for _, c := range []struct {
		turn        work.Turn
		model, want string
	}{
		{work.Turn{Kind: work.KindFix, Agent: "codex", Reviewer: "quinn"}, "", "codex"},
		{work.Turn{Kind: work.KindFix, Agent: "codex"}, "gpt-5", "codex (gpt-5)"},
		{work.Turn{Kind: work.KindReview, Agent: "claude", Reviewer: "quinn"}, "us.anthropic.claude-haiku-4-5-v1:0", "quinn (us.anthropic.claude-haiku-4-5-v1:0)"},
		{work.Turn{Kind: work.KindFix, Agent: "codex"}, "</sub> @ann\n/mergexo cancel", "codex (/subann/mergexocancel)"},
		{work.Turn{Kind: work.KindFix, Agent: "codex"}, "<>", "codex"},
		{work.Turn{Kind: work.KindFix, Agent: "codex", InsteadOf: "claude"}, "", "codex (in place of claude)"},
		{work.Turn{Kind: work.KindFix, Agent: "codex", InsteadOf: "claude"}, "gpt-5", "codex (gpt-5, in place of claude)"},
		{work.Turn{Kind: work.KindReview, Agent: "codex", InsteadOf: "claude", Reviewer: "quinn"}, "gpt-5", "quinn (gpt-5, codex in place of claude)"},
	} {
		if got := called(&env.Lease{Turn: c.turn, Model: c.model}); got != c.want {
			t.Errorf("%q: %q, want %q", c.model, got, c.want)
		}
	}
}

// A pull request says which required tests its commit passed.
func TestAPullRequestSaysWhatWasRun(t *testing.T) {
	for ran, want := range map[string]string{"": "", "go test ./...": "Ran `go test ./...` on bbbbbbbbbb: passed.\n\n"} {
		l := &env.Lease{Repo: &env.Repo{}, Item: work.Item{Number: 7, Flow: work.FlowBugfix}}
		l.Turn = work.Turn{Kind: work.KindBugfixStart, Tested: ran, Commit: strings.Repeat("b", 40)}
		planned := planActions(l, prompts.Answer{PRTitle: "T", PRSummary: "It crashed.", CommitMessage: "m"})
		if body := planned[len(planned)-1].Body; !strings.HasPrefix(body, "It crashed.\n\n"+want+"Fixes #7\n\n<!-- mergexo-work:") {
			t.Errorf("after %q: %q", ran, body)
		}
	}
}

func TestWhoIsNamedBelowAnAgentsWords(t *testing.T) {
	for _, c := range []struct{ template, operator, want string }{
		{"By {agent} on behalf of @{operator}.", "olga", "By codex on behalf of @olga."},
		{"By {agent} on behalf of @{operator}.", "", "By codex."},
		{"By {agent} for {operator}, ask @{operator}.", "", "By codex for its operator, ask its operator."},
		{"A machine wrote this.", "olga", "A machine wrote this."},
		{"", "olga", ""},
	} {
		if got := disclose(c.template, "codex", c.operator); got != c.want {
			t.Errorf("%q for %q becomes %q", c.template, c.operator, got)
		}
	}
}

// An app is not mentioned: @ and its name is another account.
func TestAnAppIsNotMentioned(t *testing.T) {
	var a env.Accounts
	a.Names.SetLogin("github.com", work.Account{ID: 1, Login: "olga"})
	if got := a.Operator("github.com"); got != "olga" {
		t.Errorf("the operator is %q", got)
	}
	for _, app := range []work.Account{{ID: 2, Login: "robot", Bot: true}, {ID: 3, Login: "helper[bot]"}, {ID: 3, Login: "helper"}} {
		a.Names.SetLogin("github.com", app)
		if got := a.Operator("github.com"); got != "" {
			t.Errorf("the app %+v is called %q", app, got)
		}
	}
}
