package env

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Matches reports whether a path is one that a glob means; a folder means all
// that is in it.
func Matches(glob, path string) bool {
	folder := strings.TrimSuffix(glob, "/")
	if ok, err := doublestar.Match(folder, path); ok && err == nil {
		return true
	}
	return strings.HasPrefix(path, folder+"/")
}
