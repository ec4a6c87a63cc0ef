package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
)

const oneRepo = "[agents.a]\nadapter = \"command\"\ncommand = [\"agent\"]\n[[repo]]\nname = \"o/n\"\n"

func TestLimitsOfAPushAreRead(t *testing.T) {
	c, err := parse(t, oneRepo)
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Repos[0]; !slices.Contains(r.ProtectedPaths, ".github/workflows/**") {
		t.Errorf("defaults %+v", r)
	}
	c, err = parse(t, oneRepo+"protected_paths = [\"secret/**\", \"*.{pem,key}\"]\n")
	if err != nil {
		t.Fatal(err)
	}
	if r := c.Repos[0]; !slices.Equal(r.ProtectedPaths, []string{"secret/**", "*.{pem,key}"}) {
		t.Errorf("got %+v", r)
	}
	if c, err = parse(t, oneRepo+"protected_paths = []\n"); err != nil || len(c.Repos[0].ProtectedPaths) != 0 {
		t.Errorf("none: %v", err)
	}
}

func TestBadLimitsAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`protected_paths = ["a[b"]`:     `"a[b" is no pattern`,
		`protected_paths = ["/etc/**"]`: "write it relative to the repository's root",
		`protected_paths = ["x/"]`:      "write x/** for all that is in a folder",
		`protected_paths = ["../x"]`:    "without . and ..",
		`protected_paths = [""]`:        "is empty",
		`protected_paths = "x"`:         "want a list",
		`protected_paths = ['a\\b']`:    "with slashes",
	} {
		if _, err := parse(t, oneRepo+line+"\n"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ":6: ") {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestThePromptsFolderIsBesideTheConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	env := environ.Of([]string{"HOME=/home/op"})
	for setting, want := range map[string]string{"": filepath.Join(dir, "prompts"), `prompts_dir = "."`: dir, `prompts_dir = "` + dir + `"`: dir} {
		c, err := config.Parse(path, []byte("[runtime]\n"+setting+"\n"+oneRepo), env, "github.com")
		if err != nil || c.Runtime.PromptsDir != want {
			t.Errorf("%s: %v, want %s", setting, err, want)
		}
	}
	if _, err := config.Parse(path, []byte("[runtime]\nprompts_dir = \"nowhere\"\n"+oneRepo), env, "github.com"); err == nil || !strings.Contains(err.Error(), "nowhere is no folder") {
		t.Errorf("a missing folder: %v", err)
	}
}

// Whoever may change these could run something with the repository's secrets, or let himself be
// waved through.
func TestWhatRunsByItselfIsProtectedByDefault(t *testing.T) {
	c, err := parse(t, oneRepo)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		".github/workflows/a.yml", ".github/actions/a/index.js", "action.yml", "tools/setup/action.yaml", ".github/dependabot.yml", ".github/dependabot.yaml",
		"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab-ci.yml", ".gitlab/ci/x.yml", ".circleci/config.yml", ".travis.yml", "Jenkinsfile", "ci/Jenkinsfile",
		"azure-pipelines.yml", ".azure-pipelines/x.yml", ".buildkite/pipeline.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker/x.yml", "bitbucket-pipelines.yml",
		"appveyor.yml", ".appveyor.yml", ".cirrus.yml", ".semaphore/semaphore.yml", ".teamcity/settings.kts", ".forgejo/workflows/a.yml", ".gitea/workflows/a.yml",
		"buildspec.yml", "cloudbuild.yaml", ".tekton/x.yaml", ".devcontainer/devcontainer.json", ".devcontainer.json", "sub/.devcontainer/Dockerfile",
	} {
		if !slices.ContainsFunc(c.Repos[0].ProtectedPaths, func(glob string) bool { ok, err := doublestar.Match(glob, path); return ok && err == nil }) {
			t.Errorf("%s may be changed", path)
		}
	}
	for _, path := range []string{"README.md", "action.go", "docs/action.yml.md", "src/dependabot.go", ".github/ISSUE_TEMPLATE/bug.yml", "azure.yml", ".vscode/settings.json"} {
		if slices.ContainsFunc(c.Repos[0].ProtectedPaths, func(glob string) bool { ok, _ := doublestar.Match(glob, path); return ok }) {
			t.Errorf("%s must not be changed", path)
		}
	}
}
