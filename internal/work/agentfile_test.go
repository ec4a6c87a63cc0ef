package work

import (
	"strings"
	"testing"
)

func TestAgentFiles(t *testing.T) {
	type is struct{ obeyed, guide bool }
	for file, want := range map[string]is{
		"AGENTS.md": {true, true}, "sub/dir/agents.MD": {true, true}, "sub/AGENT\u017f.md": {true, true}, "AGENTS.override.md": {true, true},
		"CLAUDE.md": {true, true}, "x/CLAUDE.local.md": {true, false}, "GEMINI.md": {true, true}, "QWEN.md": {true, true},
		"CONTRIBUTING.md": {true, true}, "docs/contributing": {true, true}, ".github/HACKING.adoc": {true, true}, "src/CONTRIBUTING.md": {},
		".github/copilot-instructions.md": {true, true}, ".github/instructions/go.instructions.md": {true, true}, ".github/agents/a.md": {true, false}, "sub/.github/agents/a.md": {true, false}, "sub/.github/copilot-instructions.md": {true, true},
		"AGENT.md": {true, true}, ".windsurfrules": {true, true}, ".kiro/steering/a.md": {true, true}, ".junie/guidelines.md": {true, true}, ".roo/a": {true, false}, ".gemini/settings.json": {true, false}, ".qwen/settings.json": {true, false},
		".claude": {true, false}, ".claude/skills/a/SKILL.md": {true, false}, "sub/.codex/config.toml": {true, false}, ".agents/skills/a/SKILL.md": {true, false},
		".cursor/rules/style.mdc": {true, true}, ".cursor/rules/logo.png": {true, false}, ".cursor/mcp.json": {true, false}, ".clinerules": {true, true}, ".clinerules/a.md": {true, true},
		".mcp.json": {true, false}, "opencode.json": {true, false}, ".opencode/plugin/a.ts": {true, false}, ".goosehints": {true, true}, ".env": {true, false}, "sub/.env": {}, ".env.example": {},
		// A file or a link that takes the place of a folder around one.
		".github": {true, false}, "docs": {true, false}, ".vscode": {true, false}, "sub/.github": {true, false}, "sub/docs": {},
		"README.md": {}, "main.go": {}, "docs/AGENTS.md.txt": {}, "claude.go": {}, "x.claude": {}, ".github/workflows/ci.yml": {}, "docs/guide.md": {}, ".vscode/settings.json": {},
	} {
		if got := (is{IsAgentFile(file), IsGuide(file)}); got != want {
			t.Errorf("%s: %+v, want %+v", file, got, want)
		}
	}
}

// Every row means the path that it names, what is in a folder of that name, and, without a slash,
// the same in every folder.
func TestEveryAgentFileIsFound(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range AgentFiles() {
		if seen[f.Path] {
			t.Errorf("%s is listed twice", f.Path)
		}
		seen[f.Path] = true
		p := strings.TrimPrefix(strings.TrimPrefix(f.Path, "**/"), "/")
		for _, file := range []string{p, strings.ToUpper(p), p + "/deep/er"} {
			if !IsAgentFile(file) {
				t.Errorf("%s is none", file)
			}
		}
		if IsGuide(p) != f.Guide {
			t.Errorf("%s: a guide %v", p, !f.Guide)
		}
		dir, _, _ := strings.Cut(p, "/")
		anywhere := !strings.Contains(f.Path, "/") || strings.HasPrefix(f.Path, "**/") || IsAgentFile("a/b/"+dir+"/any/file") // a row of its own may mean the whole folder
		if IsAgentFile("a/b/"+p) != anywhere {
			t.Errorf("a/b/%s: %v", p, !anywhere)
		}
	}
}
