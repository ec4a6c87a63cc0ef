package arrows

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What builds a release is named by what it contains: a tag may be moved. Who installs one is told to
// verify the version that they asked for.
func TestWhatBuildsARelease(t *testing.T) {
	root := filepath.Join("..", "..")
	workflows, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatal("no workflows", err)
	}
	for file, pinned := range map[string]*regexp.Regexp{
		"Dockerfile": regexp.MustCompile(`@sha256:[0-9a-f]{64}$`), "*.yml": regexp.MustCompile(`@[0-9a-f]{40} # v[0-9.]+$`),
	} {
		names := []string{filepath.Join(root, file)}
		if file == "*.yml" {
			names = workflows
		}
		for _, name := range names {
			text := read(t, name)
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				if by := regexp.MustCompile(`^(- )?uses: |^ARG \w+_IMAGE=`); by.MatchString(line) && !pinned.MatchString(line) {
					t.Errorf("%s: not pinned: %s", name, line)
				}
				if strings.HasPrefix(line, "FROM ") && !strings.HasPrefix(line, "FROM ${") {
					t.Errorf("%s: not one of the pinned images: %s", name, line)
				}
			}
			if file == "*.yml" && !regexp.MustCompile(`(?m)^permissions:( \{\}|\n  contents: read)$`).MatchString(text) {
				t.Errorf("%s: its jobs get more than they ask for", name)
			}
		}
	}
	for _, name := range []string{"script/action/install.sh", "docs/setup.md"} {
		for _, want := range []string{"gh attestation verify", "--signer-workflow", "--source-ref"} {
			if !strings.Contains(read(t, filepath.Join(root, name)), want) {
				t.Errorf("%s: without %s", name, want)
			}
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
