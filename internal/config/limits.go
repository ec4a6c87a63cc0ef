package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// What a run of an agent, or of the required tests, may take of the machine unless
// the config says otherwise.
const (
	defaultMaxMemory = 8 << 30
	leastMemory      = 64 << 20 // codex alone takes as much

	defaultMaxDisk = 10 << 30
	leastDisk      = 16 << 20
)

// What no push may carry, unless the config says otherwise. A workflow that an
// agent pushed would run with the repository's secrets, so would the files of
// other systems that act on a push; CODEOWNERS decides who must approve.
const (
	defaultMaxFiles     = 1000
	defaultMaxFileBytes = 10 << 20
	githubMaxFileBytes  = 100 << 20 // GitHub refuses larger files
)

// DefaultProtectedPaths are the paths that no push may change.
func DefaultProtectedPaths() []string {
	return []string{
		".github/workflows/**", ".github/actions/**", "**/action.{yml,yaml}", ".github/dependabot.{yml,yaml}",
		"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
		".gitlab-ci.yml", ".gitlab/**", ".circleci/**", ".travis.yml", "**/Jenkinsfile", "azure-pipelines.{yml,yaml}", ".azure-pipelines/**", ".buildkite/**",
		".drone.yml", ".woodpecker.{yml,yaml}", ".woodpecker/**", "bitbucket-pipelines.yml", "{,.}appveyor.yml", ".cirrus.{yml,star}", ".semaphore/**",
		".teamcity/**", ".forgejo/**", ".gitea/**", "{buildspec,cloudbuild}.{yml,yaml}", ".tekton/**",
		"**/.devcontainer/**", "**/.devcontainer.json",
	}
}

func (p *parser) limits(t *document.Table, r *Repo) {
	r.MaxFiles = t.Count("max_files", defaultMaxFiles, 1, 100_000)
	r.MaxFileBytes = int64(t.Count("max_file_bytes", defaultMaxFileBytes, 1, githubMaxFileBytes))
	r.ProtectedPaths = DefaultProtectedPaths()
	if _, set := t.Get("protected_paths"); set {
		r.ProtectedPaths = t.Texts("protected_paths")
	}
	for _, glob := range r.ProtectedPaths {
		if why := globProblem(glob); why != "" {
			t.Bad("protected_paths", "%q %s", glob, why)
		}
	}
}

// mostDaysPassed bounds the weights of a schedule: how long what comes later may
// be begun before what waits.
const mostDaysPassed = 365

// budgets are, unless the config says otherwise, more than honest work needs and
// less than an operator who sleeps would mind.
func budgets(t *document.Table) work.Budgets {
	const mostTurns, mostUSD, mostTokens = 100_000, 100_000, 1_000_000_000
	return work.Budgets{
		TurnsPerItem:   t.Count("max_turns_per_item", 30, 0, mostTurns),
		FeedbackRounds: t.Count("max_feedback_rounds", 20, 0, mostTurns),
		CostPerItem:    t.Number("max_cost_per_item_usd", 25, 0, mostUSD),
		CostPerTurn:    t.Number("max_cost_per_turn_usd", 20, 0, mostUSD),
		TokensPerTurn:  t.Count("max_tokens_per_turn", 100_000_000, 0, mostTokens),
		TurnsPerDay:    t.Count("max_turns_per_day", 200, 0, mostTurns),
		CostPerDay:     t.Number("max_cost_per_day_usd", 100, 0, mostUSD),
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
func (p *parser) promptsDir(t *document.Table) string {
	const usual = "prompts"
	written := t.Text("prompts_dir", usual)
	dir := environ.ExpandHome(written, p.env.Home)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(p.config.Path), dir)
	}
	if written != usual && !isFolder(dir) {
		t.Bad("prompts_dir", "%s is no folder", dir)
	}
	return dir
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
