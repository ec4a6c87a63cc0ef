package config

import (
	"path/filepath"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/environ"
)

// letIn checks folders and files that the sandbox shows besides the checkout and the agent's own home,
// and returns them with ~/ resolved.
func (p *parser) letIn(t place, key string, written []string) []string {
	var out []string
	for _, dir := range written {
		path := environ.ExpandHome(dir, p.env.Home)
		if !filepath.IsAbs(path) {
			t.bad(key, "want absolute paths or ones that begin with ~/, got %q", dir)
			continue
		}
		if why := p.config.TooMuch(p.env, filepath.Clean(path)); why != "" {
			t.bad(key, "%q %s: no agent may see that; name a folder or file with less in it", dir, why)
		}
		out = append(out, path)
	}
	return out
}

// nested rejects paths below a folder that an agent can write to: the agent could replace them by
// links, and so choose what the sandbox shows.
func nested(t place, key string, paths, writable []string) {
	for _, path := range paths {
		for _, w := range writable {
			if filepath.Clean(path) != filepath.Clean(w) && within(path, w) {
				t.bad(key, "%q lies in the writable folder %q, where an agent could replace it by a link; remove one of the two", path, w)
			}
		}
	}
}

// TooMuch returns the protected part of a path that no agent may see; empty if there is none. The
// sandbox checks again when it starts, with the links of that moment.
func (c *Config) TooMuch(env environ.Env, path string) string {
	kept := env.Kept()
	if filepath.IsAbs(c.Runtime.StateDir) {
		kept = append(kept, c.Runtime.StateDir)
	}
	for _, k := range kept {
		switch {
		case within(k, path):
			return "holds " + k
		case within(path, k):
			return "lies in " + k
		}
	}
	switch {
	case within(env.Home, path):
		return "is, or holds, your home folder"
	case slices.Contains([]string{"/", "/home", "/root", "/Users", "/run", "/var", "/var/run", "/private", "/private/var", "/proc", "/sys", "/dev"}, path):
		return "is a folder of everything"
	}
	return ""
}

// within reports whether a path is a folder or lies in it, also through links.
func within(path, dir string) bool {
	for _, p := range []string{path, resolved(path)} {
		for _, d := range []string{dir, resolved(dir)} {
			if rel, err := filepath.Rel(d, p); err == nil && (rel == "." || filepath.IsLocal(rel)) {
				return true
			}
		}
	}
	return false
}

func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}
