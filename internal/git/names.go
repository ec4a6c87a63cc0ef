package git

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// maxPathBytes is the longest path that may be pushed. The limits of macOS and Windows are about
// that.
const maxPathBytes = 1000

// nameTrouble returns why a path cannot be pushed, "" if it can. Git on every system, and GitHub,
// refuse names that some system takes for .git.
func nameTrouble(path string) string {
	if len(path) > maxPathBytes {
		return fmt.Sprintf("a path that begins with %q is longer than %d bytes", path[:80], maxPathBytes)
	}
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		for _, system := range []string{"linux", "darwin", "windows"} {
			if isDotGit(name, system) {
				return fmt.Sprintf("%+q has a name that some operating systems treat as .git", path)
			}
		}
	}
	return ""
}

// isGitmodules reports whether git takes the name for .gitmodules, which must not be a link.
func isGitmodules(name string) bool {
	name = strings.ToLower(withoutIgnorable(name))
	short := strings.HasPrefix(name, "gitmod~") || strings.HasPrefix(name, "gi7eba~")
	return short || strings.TrimRight(name, " .") == ".gitmodules"
}

// tooLongError turns a walk's error about a path too long for the system into a *RefusedError.
func tooLongError(err error) error {
	var at *fs.PathError
	if errors.Is(err, syscall.ENAMETOOLONG) && errors.As(err, &at) {
		return &RefusedError{Reason: fmt.Sprintf("a path in the checkout is longer than %d bytes and than the system can follow: …%q", maxPathBytes, lastBytes(at.Path, 80))}
	}
	return err
}

func lastBytes(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// ignorable has the code points that HFS+ ignores when it compares names (git's utf8.c,
// next_hfs_char).
const ignorable = "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"

// isDotGit reports whether a file system of that kind may take the name for .git. It ignores case
// everywhere, because no tree can hold such a name anyway.
func isDotGit(name, system string) bool {
	switch system {
	case "darwin", "ios":
		name = withoutIgnorable(name)
	case "windows":
		name, _, _ = strings.Cut(name, ":") // a data stream of the same file
		name = strings.TrimRight(name, " .")
		if strings.EqualFold(name, "git~1") {
			return true
		}
	}
	return strings.EqualFold(name, ".git")
}

func withoutIgnorable(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(ignorable, r) {
			return -1
		}
		return r
	}, name)
}
