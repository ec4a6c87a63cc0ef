package env

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Matches reports whether a path matches a glob. A glob that matches a folder matches all files in
// it.
func Matches(glob, path string) bool {
	folder := strings.TrimSuffix(glob, "/")
	if ok, err := doublestar.Match(folder, path); ok && err == nil {
		return true
	}
	return strings.HasPrefix(path, folder+"/")
}
