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
		{"what is missing comes last", two + "[[repo]]\nremote_url = 1\n[repo.roadmap]\nparalel = 1\n", `config.toml:8: remote_url in [[repo]]: want text in quotes, got a whole number
config.toml:10: unknown key "paralel" in [repo.roadmap]; did you mean "parallel"?
config.toml: agent in [runtime]: missing; there are several, name one of a, b
config.toml:7: name in [[repo]]: missing; write name = "owner/name"`},
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
