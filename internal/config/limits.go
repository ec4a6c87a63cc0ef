package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// githubMaxFileBytes is the size from which GitHub refuses files.
const githubMaxFileBytes = 100 << 20

// defaultProtectedPaths returns the paths that no push may change by default. A workflow pushed by
// an agent would run with the repository's secrets, as would files of other systems that act on a
// push; CODEOWNERS decides who must approve.
func defaultProtectedPaths() []string {
	return []string{
		".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}", ".github/dependabot.{yml,yaml}",
		"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
		".gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".travis.yml", "**/Jenkinsfile", "azure-pipelines.{yml,yaml}", ".azure-pipelines/**", ".buildkite/**",
		".drone.yml", ".woodpecker.{yml,yaml}", ".woodpecker/**", "bitbucket-pipelines.yml", "{,.}appveyor.yml", ".cirrus.{yml,star}", ".semaphore/**",
		".teamcity/**", ".forgejo/**", ".gitea/**", "{buildspec,cloudbuild}.{yml,yaml}", ".tekton/**",
		"**/.devcontainer/**", "**/.devcontainer.json",
	}
}

func checkGlobs(t *Table, key string, globs []string) {
	for _, glob := range globs {
		if why := globProblem(glob); why != "" {
			t.bad(key, "%q %s", glob, why)
		}
	}
}

// globProblem returns why a glob cannot protect anything, or "".
func globProblem(glob string) string {
	switch {
	case strings.TrimSpace(glob) == "":
		return "is empty"
	case !doublestar.ValidatePattern(glob):
		return "is no pattern: see a missing ] or } in it"
	case strings.HasPrefix(glob, "/") || strings.Contains(glob, `\`):
		return "matches nothing: write it relative to the repository's root, with slashes"
	case slices.Contains(strings.Split(glob, "/"), "..") || strings.HasPrefix(glob, "./"):
		return "matches nothing: write it without . and .."
	case strings.HasSuffix(glob, "/"):
		return "matches no file: write " + glob + "** for all that is in a folder"
	}
	return ""
}

// promptsDir returns the folder of the operator's own prompts: by default beside the config.
func (p *parser) promptsDir(t *Table) string {
	written := t.text("prompts_dir", usualPrompts)
	dir := environ.ExpandHome(written, p.env.Home)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(p.config.Path), dir)
	}
	if written != usualPrompts && !isFolder(dir) {
		t.bad("prompts_dir", "%s is no folder", dir)
	}
	return dir
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
