package prompts

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestInstructionFilesAreFound(t *testing.T) {
	tree := []string{
		".editorconfig", ".github/CONTRIBUTING.md", ".github/ISSUE_TEMPLATE/bug.md", ".github/PULL_REQUEST_TEMPLATE/docs.md", ".github/copilot-instructions.md",
		".github/instructions/go.instructions.md", ".github/pull_request_template.md", ".github/workflows/ci.yml", ".golangci.yml", "AGENTS.md", "CLAUDE.md", "README.md",
		"contributing.rst", "deep/er/AGENTS.md", "docs/agents.markdown", "docs/contributing.md", "eslint.config.mjs", "node_modules/x/AGENTS.md", "pkg/CLAUDE.md", "src/.eslintrc.json",
		"src/CONTRIBUTING.md", "src/main.go", "vendor/a/.golangci.yml", "web/pull_request_template.md", ".cursor/rules/style.mdc", "pyproject/ruff.toml", "x/.prettierrc",
	}
	slices.Reverse(tree)
	got := FindInstructions(tree)
	want := Instructions{
		Guides: []string{
			".github/CONTRIBUTING.md", ".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "contributing.rst", "docs/contributing.md", "pkg/CLAUDE.md",
			".cursor/rules/style.mdc", ".github/instructions/go.instructions.md", "deep/er/AGENTS.md",
		},
		Lint:          []string{".editorconfig", ".golangci.yml", "eslint.config.mjs", "pyproject/ruff.toml", "src/.eslintrc.json", "x/.prettierrc"},
		PullTemplates: []string{".github/pull_request_template.md", ".github/PULL_REQUEST_TEMPLATE/docs.md"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestInstructionFilesAreToldOfAsData(t *testing.T) {
	c := Sample()
	text := words(t, work.KindBugfixStart, c)
	for _, want := range []string{"(instructions for contributors) read before you begin: - AGENTS.md", "lint and format configuration: - .editorconfig", "pull request template: - .github/pull_request_template.md"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	c.Task.Instructions = &Instructions{}
	if text := words(t, work.KindBugfixStart, c); !strings.Contains(text, "No file has instructions for contributors") {
		t.Errorf("none:\n%s", text)
	}
	c.Task.Instructions = nil
	if text := words(t, work.KindBugfixStart, c); !strings.Contains(text, "AGENTS.md and CLAUDE.md at the root and in the folders that you work in, CONTRIBUTING") {
		t.Errorf("not listed:\n%s", text)
	}
	c.Task.Instructions = &Instructions{}
	for i := range 500 {
		c.Task.Instructions.Guides = append(c.Task.Instructions.Guides, fmt.Sprintf("%d/AGENTS.md", i))
	}
	got := Prepare(c).Task.Instructions
	if len(got.Guides) != maxGuides || !strings.Contains(got.Guides[maxGuides-1], "more left out") || got.Lint == nil {
		t.Errorf("%d guides, lint %v", len(got.Guides), got.Lint)
	}
}
