package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// The first line that a person reads is the cause: what only follows from a misspelt
// key is not told, and what is missing comes last.
func TestProblemsAreToldByTheirCauses(t *testing.T) {
	const two = "[agents.a]\nadapter = \"command\"\ncommand = [\"/a\"]\n[agents.b]\nadapter = \"command\"\ncommand = [\"/b\"]\n"
	for _, c := range []struct{ name, doc, want string }{
		{"a misspelt agent of two", "[runtime]\nagnet = \"a\"\n" + two + "[[repo]]\nname = \"o/n\"\n", `config.toml:2: unknown key "agnet" in [runtime]; did you mean "agent"?`},
		{"a misspelt table of repositories", two + "[runtime]\nagent = \"a\"\n[[repos]]\nname = \"o/n\"\n", `config.toml:9: unknown table [repos]; did you mean [[repo]]?`},
		{"a misspelt name", "[[repo]]\nnmae = \"o/n\"\n", `config.toml:2: unknown key "nmae" in [[repo]]; did you mean "name"?`},
		{"a misspelt adapter", "[agents.x]\nadaptor = \"codex\"\n[[repo]]\nname = \"o/n\"\n", `config.toml:2: unknown key "adaptor" in [agents.x]; did you mean "adapter"?`},
		{"what is missing comes last", two + "[[repo]]\nkeep_ignored = 1\n[repo.labels]\nbugfx = \"x\"\n", `config.toml:8: keep_ignored in [[repo]]: want true or false, got a whole number
config.toml:10: unknown key "bugfx" in [repo.labels]; did you mean "bugfix"?
config.toml: agent in [runtime]: missing; there are several, name one of a, b
config.toml:7: name in [[repo]]: missing; write name = "owner/name"`},
		{"a flow where a kind of turn is wanted", "[[repo]]\nname = \"o/n\"\n[repo.agents]\nbugfix = \"codex\"\nsmall-job = \"codex\"\ndesign = \"codex\"\n", `config.toml:4: bugfix in [repo.agents]: a flow, and agents are named for kinds of turn; write bugfix_start, and implementation_feedback for its pull request's comments
config.toml:5: small-job in [repo.agents]: a flow, and agents are named for kinds of turn; write small_job_start, and implementation_feedback for its pull request's comments
config.toml:6: design in [repo.agents]: a flow, and agents are named for kinds of turn; write design_start, and design_feedback for its pull request's comments`},
	} {
		_, err := Parse("config.toml", []byte(c.doc), environ.Of([]string{"HOME=/h"}), "github.com")
		invalid, ok := errors.AsType[*InvalidError](err)
		if !ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := invalid.Error(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, strings.TrimSpace(c.want))
		}
	}
}
