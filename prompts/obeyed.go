package prompts

import "github.com/mergexo/gh-mergexo/internal/lazy"

// obeyedFile are the settings of agents' programs, and folders of them, which they read by
// themselves.
var obeyedFile = lazy.Regexp(`(?i)^(.*/)?(\.claude|\.codex|\.agents|\.gemini|\.cursor|\.mcp\.json|CLAUDE\.local\.md)$`)

// Obeyed reports whether an agent obeys a file of a repository, or the files of a folder:
// it is told to read it, or its program reads it by itself. Whoever writes such a file
// tells agents what to do.
func Obeyed(path string) bool { return guideFile().MatchString(path) || obeyedFile().MatchString(path) }
