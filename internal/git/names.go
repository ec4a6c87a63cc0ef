package git

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// maxPathBytes is the longest path that may be pushed. macOS and Windows have
// limits of about that.
const maxPathBytes = 1000

// nameTrouble says why a path cannot be pushed: git refuses some names
// whatever the system is, since they are .git elsewhere, and so does GitHub.
// Empty: nothing.
func nameTrouble(path string) string {
	if len(path) > maxPathBytes {
		return fmt.Sprintf("a path that begins with %q is longer than %d bytes", path[:80], maxPathBytes)
	}
	for _, name := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		for _, system := range []string{"linux", "darwin", "windows"} {
			if isDotGit(name, system) {
				return fmt.Sprintf("%+q has a name that some systems take for .git", path)
			}
		}
	}
	return ""
}

// isGitmodules reports whether git takes the name for .gitmodules, which must be
// no link.
func isGitmodules(name string) bool {
	name = strings.ToLower(withoutIgnorable(name))
	short := strings.HasPrefix(name, "gitmod~") || strings.HasPrefix(name, "gi7eba~")
	return short || strings.TrimRight(name, " .") == ".gitmodules"
}

// tooLong makes a refusal of a walk's error about a path that the system cannot
// follow.
func tooLong(err error) error {
	var at *fs.PathError
	if errors.Is(err, syscall.ENAMETOOLONG) && errors.As(err, &at) {
		return &RefusedError{Reason: fmt.Sprintf("a path in the checkout is longer than %d bytes and than the system can follow: …%q", maxPathBytes, lastBytes(at.Path, 80))}
	}
	return err
}

func lastBytes(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// addSigns are what git says of files that it never adds, whatever their content.
var addSigns = []string{"invalid path", "file name too long", "filename too long"}

// refusedToAdd makes a refusal of git's own: to try again would not help.
func refusedToAdd(err error) error {
	var failed *plumbing.CommandError
	if errors.As(err, &failed) && failed.Says(addSigns) {
		return &RefusedError{Reason: "git does not add it: " + failed.LastLines(3)}
	}
	return err
}
