package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packages are the names under which npm has the programs, in the order in which
// script/agent-clis takes their versions.
var packages = []struct{ adapter, name string }{{codexName, "@openai/codex"}, {claudeName, "@anthropic-ai/claude-code"}}

// Every version that is said to work is tested: by CI, which pins one, or each
// night.
func TestWhatIsSaidToWorkIsTested(t *testing.T) {
	nightly, pinned := nightlyVersions(t), pinnedVersions(t)
	for i, p := range packages {
		if !slices.Contains(adapters[p.adapter].Releases.Worked, pinned[p.name]) {
			t.Errorf("CI tests %s %s, which nobody says to work", p.adapter, pinned[p.name])
		}
		for _, v := range adapters[p.adapter].Releases.Worked {
			if v != pinned[p.name] && !slices.ContainsFunc(nightly, func(pair []string) bool { return pair[i] == v }) {
				t.Errorf("%s %s is said to work; add it to the matrix of nightly.yml", p.adapter, v)
			}
		}
	}
}

// nightlyVersions are the pairs of versions in the nightly workflow.
func nightlyVersions(t *testing.T) (pairs [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "nightly.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "'--newest'") {
		t.Error("the newest versions are not tested")
	}
	for _, m := range regexp.MustCompile(`'([0-9.]+) ([0-9.]+)'`).FindAllStringSubmatch(string(text), -1) {
		pairs = append(pairs, m[1:])
	}
	return pairs
}

// pinnedVersions are those of CI, by package.
func pinnedVersions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "modelsim", "programs", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	return manifest.Dependencies
}
