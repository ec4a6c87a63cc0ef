package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

func parseLines(t *testing.T, lines string) *config.Config {
	t.Helper()
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "config.toml"), []byte("[[repo]]\nname = \"o/n\"\n"+lines), environ.Of([]string{"HOME=/home/you"}), "github.com")
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// TestSettingsThatDoNothingAreDoubted: what is no mistake, and not what was meant, is told.
func TestSettingsThatDoNothingAreDoubted(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"critical paths without merging": {"[repo.review]\ncritical_paths = [\"db/**\"]\n", "critical_paths has no effect: auto_merge is false"},
		"a folder not to be read":        {"[repo.review]\nreview_unread = [\"vendor\"]\n", `review_unread has "vendor", which means a file of that name alone; write "vendor/**"`},
		"a folder that is a file":        {"[repo.review]\nauto_merge = true\ncritical_paths = [\"src/auth\"]\n", `"src/auth", which means a file of that name alone; write "src/auth/**"`},
		"merging without reviewers":      {"[repo.review]\nauto_merge = true\n[[repo.reviewers]]\nname = \"sam\"\nflows = []\n", "auto_merge has no effect: no reviewer reviews"},
		"nobody looks":                   {"[[repo.reviewers]]\nname = \"sam\"\nflows = []\n", "nobody reviews its pull requests"},
		"no persona":                     {"[[repo.reviewers]]\nname = \"mora\"\naccount = \"mora\"\n", `reviewer "mora" has no persona`},
	} {
		if got := strings.Join(config.Doubts(parseLines(t, c.lines)), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for _, lines := range []string{"", "[repo.review]\nauto_merge = true\ncritical_paths = [\"CODEOWNERS\", \"go.mod\", \"db/**\"]\n", "[[repo.reviewers]]\nname = \"ann\"\nlogin = \"ann\"\n"} {
		if got := config.Doubts(parseLines(t, lines)); len(got) > 0 {
			t.Errorf("%q: %q", lines, got)
		}
	}
}
