package prompts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// MaxPath is the longest accepted path, in characters.
const MaxPath = 300

var drive = lazy.Regexp(`^[A-Za-z]:[/\\]`)

// PathProblem returns why an agent's value is no valid touched path, or "". It must be a path or
// glob inside the repository, written with slashes.
func PathProblem(p string) string {
	switch {
	case strings.TrimSpace(p) == "":
		return "is empty"
	case utf8.RuneCountInString(p) > MaxPath:
		return "is too long"
	case strings.ContainsAny(p, "\r\n\t"):
		return "has more than one line"
	case strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || drive().MatchString(p):
		return "is absolute; write it relative to the repository's root"
	case strings.Contains(p, `\`):
		return "has a backslash; write it with slashes"
	case slices.Contains(strings.Split(p, "/"), ".."):
		return "leaves the repository"
	case strings.EqualFold(strings.Split(p, "/")[0], ".git"):
		return "is inside .git"
	}
	return ""
}
