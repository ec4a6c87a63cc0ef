package config

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// TestFallbacks: a fallback exists, has none itself, and never makes the author of a change its reviewer
// where the config names two agents.
func TestFallbacks(t *testing.T) {
	const repo = "\n[[repo]]\nname = \"octo/app\"\n"
	for name, c := range map[string]struct{ config, want string }{
		"another":  {"[agents.codex]\nfallback = \"claude\"" + repo, ""},
		"itself":   {"[agents.codex]\nfallback = \"codex\"" + repo, `"codex" is the agent itself`},
		"nobody":   {"[agents.codex]\nfallback = \"cladue\"" + repo, `fallback of [agents.codex]: unknown agent "cladue"; did you mean "claude"?`},
		"a circle": {"[runtime]\nagent = \"codex\"\n[agents.codex]\nfallback = \"claude\"\n[agents.claude]\nfallback = \"codex\"" + repo, `"claude" has a fallback itself, "codex"`},
		"a chain":  {"[runtime]\nagent = \"codex\"\n[agents.codex]\nfallback = \"claude\"\n[agents.claude]\nfallback = \"third\"\n[agents.third]\nadapter = \"claude\"" + repo, `"claude" has a fallback itself, "third"`},
		"a reviewer of its own": {
			"[agents.codex]\nfallback = \"claude\"" + repo + "[[repo.reviewers]]\nname = \"quinn\"\nagent = \"claude\"\n",
			`in octo/app, "codex" works and "claude" reviews it (quinn)`,
		},
		"reviews of another agent": {"[agents.codex]\nfallback = \"claude\"" + repo + "review_agent = \"claude\"\n", `fallback of [agents.codex]: in octo/app`},
		"the reviewer's": {
			"[runtime]\nagent = \"codex\"\n[agents.claude]\nfallback = \"codex\"" + repo + "[[repo.reviewers]]\nname = \"quinn\"\nagent = \"claude\"\n",
			`fallback of [agents.claude]: in octo/app`,
		},
		"the same for both": {
			"[runtime]\nagent = \"codex\"\n[agents.codex]\nfallback = \"third\"\n[agents.claude]\nfallback = \"third\"\n[agents.third]\nadapter = \"claude\"" + repo + "review_agent = \"claude\"\n",
			`could review its own change`,
		},
		"who is called in": {
			"[agents.codex]\nfallback = \"claude\"" + repo + "[[repo.reviewers]]\nname = \"quinn\"\ncan_escalate = [\"sam\"]\n[[repo.reviewers]]\nname = \"sam\"\nagent = \"claude\"\nflows = []\n",
			`"claude" reviews it (sam)`,
		},
		"a third": {
			"[runtime]\nagent = \"codex\"\n[agents.codex]\nfallback = \"third\"\n[agents.third]\nadapter = \"claude\"" + repo + "review_agent = \"claude\"\n", "",
		},
		"reviews of other people's work alone": {
			"[agents.codex]\nfallback = \"claude\"" + repo + "[[repo.reviewers]]\nname = \"quinn\"\nagent = \"claude\"\nflows = [\"review\"]\n", "",
		},
		"no reviews": {"[agents.codex]\nfallback = \"claude\"" + repo + "review_agent = \"claude\"\n[repo.review]\nenabled = false\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("config.toml", []byte(c.config), environ.Of([]string{"HOME=/home/op"}), "github.com")
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || strings.Count(err.Error(), c.want) != 1 {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
