package machine

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
)

// hostPath is PATH for programs that we run outside every sandbox, such as git and bwrap. It omits
// folders that an agent can write to, where it could have put a program of the same name.
func hostPath(cfg *config.Config, env environ.Env) string {
	written := []string{cfg.Runtime.StateDir}
	for _, a := range cfg.Agents {
		written = slices.Concat(written, a.Writable, homes(env, a))
	}
	trusted := slices.DeleteFunc(filepath.SplitList(env.Path), func(dir string) bool {
		return slices.ContainsFunc(written, func(w string) bool { return w != "" && (within(dir, w) || within(resolved(dir), resolved(w))) })
	})
	return strings.Join(trusted, string(filepath.ListSeparator))
}

// hostGit is git's environment with the same PATH: git starts programs, too.
func (m *Machine) hostGit() []string {
	return append(slices.DeleteFunc(m.env.Git(), isPath), "PATH="+hostPath(m.cfg, m.env))
}

// isPath reports whether a NAME=value sets PATH.
func isPath(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	return strings.EqualFold(name, "PATH")
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolved follows links as far as the path exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
