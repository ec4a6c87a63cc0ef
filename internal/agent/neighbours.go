package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WithNeighbours returns an agent's environment with the folder of its program at the end of PATH:
// npm and nvm install scripts whose interpreter lies beside them, and under cron PATH has neither.
func WithNeighbours(s Spec) []string {
	path, err := Program(s)
	if err != nil {
		return s.Environ
	}
	dirs := []string{filepath.Dir(path)}
	if to, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		if dir := filepath.Dir(to); filepath.Base(dir) == "bin" {
			dirs = append(dirs, dir)
		}
	}
	all := filepath.SplitList(Lookup(s.Environ, "PATH"))
	for _, dir := range dirs {
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	environ := slices.DeleteFunc(slices.Clone(s.Environ), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(environ, "PATH="+strings.Join(all, string(filepath.ListSeparator)))
}

// PathOf returns the PATH of an environment.
func PathOf(environ []string) string { return Lookup(environ, "PATH") }
