package prompts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Instructions are the files of a repository that tell contributors how to work on it. The prompt
// names them instead of quoting them: agents read the files, and codex does not load AGENTS.md by
// itself in a checkout that it does not trust.
type Instructions struct {
	Guides        []string `json:"guides"`         // the guides of work.AgentFiles
	Lint          []string `json:"lint"`           // configuration of linters and formatters
	PullTemplates []string `json:"pull_templates"` // of the pull request's body
	OfBase        []string `json:"of_base"`        // files that the checkout of a review has as the base has them, changed by the change
}

// How many files of each kind are named.
const (
	maxGuides        = 40
	maxLint          = 20
	maxPullTemplates = 10
	maxOfBase        = 40
)

// The names of the other files, case-insensitive. Pull request templates follow GitHub's rules for
// their place.
var (
	lintFile = lazy.Regexp(`(?i)^(.*/)?(` +
		`\.editorconfig|\.pre-commit-config\.yaml|` +
		`\.golangci\.(ya?ml|toml|json)|\.?(rustfmt|clippy)\.toml|` +
		`\.?ruff\.toml|\.flake8|\.?pylintrc|mypy\.ini|` +
		`\.eslintrc(\.(js|cjs|json|ya?ml))?|eslint\.config\.(js|cjs|mjs|ts)|biome\.jsonc?|` +
		`\.prettierrc(\.(js|cjs|mjs|json|ya?ml|toml))?|prettier\.config\.(js|cjs|mjs)|\.stylelintrc(\.(js|json|ya?ml))?|` +
		`\.rubocop\.yml|\.clang-(format|tidy)|\.swiftlint\.yml|\.scalafmt\.conf|checkstyle\.xml|phpcs\.xml(\.dist)?|` +
		`\.markdownlint(\.(json|jsonc|ya?ml))?|\.shellcheckrc|\.yamllint(\.ya?ml)?)$`)
	pullTemplate = lazy.Regexp(`(?i)^((\.github|docs)/)?(pull_request_template(\.(md|txt))?|pull_request_template/[^/]+\.(md|txt))$`)
	foreign      = lazy.Regexp(`(^|/)(node_modules|vendor|third_party|\.git|testdata|fixtures)/`)
)

// FindInstructions picks the instruction files among a tree's paths, those nearest to its root
// first. It skips vendored code.
func FindInstructions(paths []string) Instructions {
	var in Instructions
	for _, p := range paths {
		switch {
		case foreign().MatchString(p):
		case work.IsGuide(p):
			in.Guides = append(in.Guides, p)
		case lintFile().MatchString(p):
			in.Lint = append(in.Lint, p)
		case pullTemplate().MatchString(p):
			in.PullTemplates = append(in.PullTemplates, p)
		}
	}
	for _, list := range [][]string{in.Guides, in.Lint, in.PullTemplates} {
		slices.SortStableFunc(list, func(a, b string) int {
			return cmp.Or(cmp.Compare(depth(a), depth(b)), strings.Compare(a, b))
		})
	}
	return in
}

// depth is the distance of a file from the root. .github and docs count as the root, because GitHub
// looks there.
func depth(p string) int {
	if dir := path.Dir(p); dir == ".github" || dir == "docs" {
		return 0
	}
	return strings.Count(p, "/")
}

func prepareInstructions(in *Instructions) *Instructions {
	if in == nil {
		return nil
	}
	return &Instructions{Guides: lines(in.Guides, maxGuides), Lint: lines(in.Lint, maxLint), PullTemplates: lines(in.PullTemplates, maxPullTemplates), OfBase: lines(in.OfBase, maxOfBase)}
}

// instructions lists the files as data: the repository chooses their folders' names.
func (f fencer) instructions(in *Instructions) string {
	if in == nil {
		return ""
	}
	return f.optional(labelInstructions, section("read before you begin", in.Guides)+
		section("lint and format configuration", in.Lint)+section("pull request template", in.PullTemplates)+
		section("in the checkout as in the base, not as in the change", in.OfBase))
}

// ForNewSession adds to a prompt that it continues a task in a new session.
func ForNewSession(prompt string) string {
	return prompt + "\nAn earlier session worked on this task and ended early. Look at what it may have left in the files before you begin.\n"
}
