package prompts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// Instructions are the files of a repository that tell contributors how to work
// on it. They are named, not quoted: agents read them where they stand, and
// codex reads no AGENTS.md by itself in a checkout that it does not trust.
type Instructions struct {
	Guides        []string `json:"guides"`         // AGENTS.md, CLAUDE.md, CONTRIBUTING and the like
	Lint          []string `json:"lint"`           // configuration of linters and formatters
	PullTemplates []string `json:"pull_templates"` // of the pull request's body
}

// How many files of each sort are named.
const (
	maxGuides        = 40
	maxLint          = 20
	maxPullTemplates = 10
)

// The names by which the files are known. Case is no matter; GitHub's own rules
// say where a pull request template may stand.
var (
	guideFile = lazy.Regexp(`(?i)^(` +
		`(.*/)?(AGENTS|AGENTS\.override|CLAUDE|GEMINI)\.md|` +
		`((\.github|docs)/)?(CONTRIBUTING|HACKING|DEVELOPMENT|DEVELOPING)(\.(md|rst|txt|adoc))?|` +
		`\.github/copilot-instructions\.md|\.github/instructions/.+\.instructions\.md|` +
		`\.cursorrules|\.cursor/rules/.+\.mdc?)$`)
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

// FindInstructions picks the instruction files of a tree's paths, those nearest
// to its root first. What belongs to somebody else's code in the tree is left
// out.
func FindInstructions(paths []string) Instructions {
	var in Instructions
	for _, p := range paths {
		switch {
		case foreign().MatchString(p):
		case guideFile().MatchString(p):
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

// depth is how far a file stands from the root; what GitHub looks for in
// .github and docs counts as being at the root.
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
	return &Instructions{Guides: lines(in.Guides, maxGuides), Lint: lines(in.Lint, maxLint), PullTemplates: lines(in.PullTemplates, maxPullTemplates)}
}

// instructions names the files, as data: their folders' names are the
// repository's.
func (f fencer) instructions(in *Instructions) string {
	if in == nil {
		return ""
	}
	return f.some("instructions for contributors", section("read before you begin", in.Guides)+
		section("lint and format configuration", in.Lint)+section("pull request template", in.PullTemplates))
}
