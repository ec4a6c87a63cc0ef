package turn

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// The line appears below an agent's text exactly once, however long the text and however many
// events the body names.
func TestTheLineBelowAnAgentsWordsStays(t *testing.T) {
	line := disclose(config.DefaultDisclosure, "codex", "olga")
	if !strings.Contains(line, "Written by codex") || !strings.Contains(line, "on behalf of @olga.") {
		t.Fatalf("the line is %q", line)
	}
	for _, text := range []string{"short", strings.Repeat("ä", 70000), "```\n" + strings.Repeat("x", 70000)} {
		for _, keys := range []int{0, 1, 3000} {
			for _, kind := range []work.Kind{work.KindBugfixStart, work.KindImplementationFeedback} {
				l := &env.Lease{Repo: &env.Repo{}, Item: work.Item{Number: 7, Flow: work.FlowBugfix}, Disclosure: line}
				l.Turn = work.Turn{Kind: kind, Commit: strings.Repeat("b", 40), EventKeys: slices.Repeat([]string{"7:source:1000000000:0123456789abcdef"}, keys)}
				planned := planActions(l, prompts.Answer{PRTitle: "T", PRSummary: text, GeneralComment: text, CommitMessage: "m"})
				body := planned[len(planned)-1].Body
				if n := utf8.RuneCountInString(body); n > prompts.MaxBody || strings.Count(body, "\n\n"+line+"\n\n<!-- mergexo-") != 1 {
					t.Errorf("%s, %d keys: %d characters, ends in %.200q", kind, keys, n, body[max(0, len(body)-600):])
				}
				marks, ok := work.ParseMarks(body)
				if !ok || (len(marks.Handled) > 0) != (keys > 0) {
					t.Errorf("%s, %d keys: %d handled, %v", kind, keys, len(marks.Handled), ok)
				}
				bare := undisclosed(body, config.Voice{Disclosure: config.DefaultDisclosure})
				if _, ok := work.ParseMarks(bare); !ok || kind == work.KindImplementationFeedback && strings.Contains(bare, "Written by") {
					t.Errorf("%s: an agent is shown %.300q", kind, bare[max(0, len(bare)-400):])
				}
			}
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

// Agents see their earlier texts without the line, whatever names it has.
func TestTheLineIsTakenOutForAgents(t *testing.T) {
	v := config.Voice{Disclosure: "By {agent} (really) on behalf of @{operator}."}
	for _, line := range []string{"By codex (really) on behalf of @olga.", "By x (really)."} {
		for _, marks := range []string{"", "\n\n<!-- mergexo-action:0 -->", "\n\n<!-- mergexo-handled:1 2 -->\n<!-- mergexo-action:0 -->"} {
			if got := undisclosed("Done.\n\n"+line+marks, v); got != "Done."+marks {
				t.Errorf("%q stays", got)
			}
		}
	}
	for _, other := range []string{"Done.", "By codex, really.", "By x (really). And more."} {
		if got := undisclosed(other, v); got != other {
			t.Errorf("%q becomes %q", other, got)
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
