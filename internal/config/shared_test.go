package config_test

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Machines with one database are told which parts of their configs differ, and not what is theirs alone.
func TestSharedPartsOfTheConfig(t *testing.T) {
	const repo = "[[repo]]\nname = \"octo/app\"\n"
	machine := func(name, text string) work.Machine {
		t.Helper()
		c, err := parse(t, text)
		if err != nil {
			t.Fatal(err)
		}
		return work.Machine{Name: name, Config: c.Shared()}
	}
	here := machine("a", "[runtime]\nworkers = 1\n"+repo)
	for text, want := range map[string]string{
		"# a line more\n[runtime]\nworkers = 3\nmachine = \"b\"\n" + repo: "",
		repo + "[[repo]]\nname = \"octo/lib\"\n":                          "the repository octo/lib is only there",
		"[[repo]]\nname = \"octo/lib\"\n":                                 "the repository octo/app is only here, the repository octo/lib is only there",
		repo + "label_prefix = \"bot:\"\n":                                "labels of octo/app",
		repo + "[repo.review]\nauto_merge = true\nmax_fix_cycles = 1\n":   "merging of octo/app, reviewers of octo/app",
	} {
		says, _ := machine("b", text).Unlike(here)
		if _, got, _ := strings.Cut(says, "in what they share: "); got != want {
			t.Errorf("%q: %q", text, says)
		}
	}
	other := machine("b", repo+"label_prefix = \"bot:\"\n")
	other.Version = "v2.0.0"
	if says, _ := other.Unlike(here); says != "" {
		t.Errorf("of another version: %q", says)
	}
}
