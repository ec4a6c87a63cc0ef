package prompts

import "testing"

func TestObeyed(t *testing.T) {
	for path, want := range map[string]bool{
		"AGENTS.md": true, "sub/dir/agents.MD": true, "CLAUDE.md": true, "x/CLAUDE.local.md": true, ".claude": true, "sub/.codex": true, ".mcp.json": true,
		"CONTRIBUTING.md": true, ".github/copilot-instructions.md": true, ".cursor": true,
		"README.md": false, "main.go": false, "docs/AGENTS.md.txt": false, "claude.go": false, "x.claude": false,
	} {
		if got := IsAgentFile(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
