package prompts

import "github.com/mergexo/gh-mergexo/internal/lazy"

// obeyedFile matches settings files and folders that agents' programs load by themselves.
var obeyedFile = lazy.Regexp(`(?i)^(.*/)?(\.claude|\.codex|\.agents|\.gemini|\.cursor|\.mcp\.json|CLAUDE\.local\.md)$`)

// IsAgentFile reports whether agents obey a file of a repository, or the files of a folder: the
// prompt names it, or the program loads it. The author of such a file instructs agents.
func IsAgentFile(path string) bool {
	return guideFile().MatchString(path) || obeyedFile().MatchString(path)
}
