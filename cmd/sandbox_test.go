//go:build linux

package cmd

import (
	"os"
	"strings"
	"testing"
)

// Without a sandbox the commands about it say why, once, and what to do.
func TestSandboxCommandsSayWhatIsMissing(t *testing.T) {
	p := newPlace(t)
	t.Setenv("PATH", t.TempDir())
	text, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"auto": "docs/security.md", "required": "docs/security.md", "bwrap": `set sandbox = "auto"`, "none": `; set sandbox = "auto" in the config`,
	} {
		changed := strings.Replace(string(text), "[runtime]", "[runtime]\nsandbox = \""+asked+"\"", 1)
		if err := os.WriteFile(p.config, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"doctor", "--sandbox", "mine"}, {"doctor", "--sandbox", "mine", "--", "/bin/true"}} {
			_, _, problems := run(t, append([]string{"--config", p.config}, args...)...)
			if strings.Count(problems, "not installed") > 1 || !strings.Contains(problems, want) || strings.Contains(problems, "comment here") {
				t.Errorf("%s, %q: %s", asked, args, problems)
			}
			if asked == "none" && strings.Contains(problems, "bubblewrap") {
				t.Errorf("%s, %q: %s", asked, args, problems)
			}
		}
	}
}
