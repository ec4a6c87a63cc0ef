package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// What no push may carry, unless the config says otherwise. A workflow that an
// agent pushed would run with the repository's secrets, and CODEOWNERS decides
// who must approve.
const (
	defaultMaxFiles     = 1000
	defaultMaxFileBytes = 10 << 20
	githubMaxFileBytes  = 100 << 20 // GitHub refuses larger files
)

// DefaultProtectedPaths are the paths that no push may change.
func DefaultProtectedPaths() []string {
	return []string{".github/workflows/**", ".github/actions/**", "CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS"}
}

func (p *parser) limits(t *table, r *Repo) {
	r.MaxFiles = t.count("max_files", defaultMaxFiles, 1, 100_000)
	r.MaxFileBytes = int64(t.count("max_file_bytes", defaultMaxFileBytes, 1, githubMaxFileBytes))
	r.ProtectedPaths = DefaultProtectedPaths()
	if _, set := t.values["protected_paths"]; set {
		r.ProtectedPaths = t.texts("protected_paths")
	}
	t.known = append(t.known, "protected_paths")
	for _, glob := range r.ProtectedPaths {
		if why := globProblem(glob); why != "" {
			t.bad("protected_paths", "%q %s", glob, why)
		}
	}
}

// globProblem says why a glob cannot protect anything.
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

// promptsDir is where the operator's own prompts are: beside the config, unless
// it says otherwise.
func (p *parser) promptsDir(t *table) string {
	const usual = "prompts"
	written := t.text("prompts_dir", usual)
	dir := expandHome(written, p.env.Home)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(p.config.Path), dir)
	}
	if info, err := os.Stat(dir); written != usual && (err != nil || !info.IsDir()) {
		t.bad("prompts_dir", "%s is no folder", dir)
	}
	return dir
}
