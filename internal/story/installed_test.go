//go:build unix

package story

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// layout is a way in which people install the agents' programs by npm.
type layout struct {
	name   string
	prefix func(t *testing.T) func(home string) string // npm's prefix: programs in bin, packages in lib/node_modules
	node   bool                                        // it has a node of its own
}

var layouts = []layout{
	{"npm in the home folder", below(".npm-global"), false},
	{"nvm", below(".nvm/versions/node/v20.0.0"), true},
	{"system-wide", systemWide, false},
}

func below(path string) func(*testing.T) func(string) string {
	return func(*testing.T) func(string) string {
		return func(home string) string { return filepath.Join(home, path) }
	}
}

// systemWide is a prefix where the system has its programs.
func systemWide(t *testing.T) func(string) string {
	t.Helper()
	var errs []error
	for _, parent := range []string{"/opt", "/usr/local/lib"} {
		dir, err := testhome.In(t, parent)
		if err == nil {
			return func(string) string { return dir }
		}
		errs = append(errs, err)
	}
	t.Skip("no folder of the system may be written: ", errors.Join(errs...))
	return nil
}

// TestAgentsAsTheyAreInstalled has each real program make a turn in the sandbox,
// installed in each way. The tests' own installation is out of its sight.
func TestAgentsAsTheyAreInstalled(t *testing.T) {
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			for _, program := range []string{"codex", "claude"} {
				t.Run(program, func(t *testing.T) {
					t.Parallel()
					playInstalled(t, l, program, bin)
				})
			}
		})
	}
}

func playInstalled(t *testing.T, l layout, program, bin string) {
	prefixFor := l.prefix(t)
	p := agentParams(t)
	p.Files = []string{filepath.Join(agentStories, "installed", "turn.txtar")}
	p.WorkdirRoot = testhome.New(t)
	p.Setup = func(e *testscript.Env) error {
		prefix := prefixFor(filepath.Join(e.WorkDir, "home"))
		if err := l.install(prefix, program, bin); err != nil {
			return fmt.Errorf("install %s: %w", program, err)
		}
		path := e.Getenv("PATH")
		if err := setUpAgents(e, t, ""); err != nil {
			return err
		}
		e.Setenv("PATH", filepath.Join(prefix, "bin")+string(filepath.ListSeparator)+path)
		e.Setenv("PROGRAM", program)
		e.Setenv("LAYOUT", l.name)
		e.Setenv("CLIS", bin)
		e.Setenv("NODE", "node")
		if l.node {
			e.Setenv("NODE", filepath.Join(prefix, "bin", "node"))
		}
		return nil
	}
	testscript.Run(t, p)
}

// install puts a program of the tests' installation into a prefix, as npm would:
// its package, the package for this platform within, and a link.
func (l layout) install(prefix, program, bin string) error {
	target, err := os.Readlink(filepath.Join(bin, program))
	if err != nil {
		return err
	}
	file := strings.TrimPrefix(filepath.ToSlash(target), "../") // @scope/package/bin/file
	scope, rest, _ := strings.Cut(file, "/")
	pack, _, _ := strings.Cut(rest, "/")
	from, to := filepath.Join(filepath.Dir(bin), scope), filepath.Join(prefix, "lib", "node_modules", scope)
	parts, err := filepath.Glob(filepath.Join(from, pack+"-*"))
	if err != nil {
		return err
	}
	if err := linkTree(filepath.Join(from, pack), filepath.Join(to, pack)); err != nil {
		return err
	}
	for _, part := range parts {
		if err := linkTree(part, filepath.Join(to, pack, "node_modules", scope, filepath.Base(part))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(prefix, "bin"), 0o755); err != nil {
		return err
	}
	if l.node {
		if err := linkNode(filepath.Join(prefix, "bin", "node")); err != nil {
			return err
		}
	}
	return os.Symlink(filepath.Join("..", "lib", "node_modules", file), filepath.Join(prefix, "bin", program))
}

// linkNode puts this machine's node somewhere else.
func linkNode(to string) error {
	node, err := exec.LookPath("node")
	if err != nil {
		return err
	}
	if node, err = filepath.EvalSymlinks(node); err != nil {
		return err
	}
	return linkFile(node, to)
}

// linkTree makes a second tree of the same files.
func linkTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		}
		return linkFile(path, at)
	})
}

// linkFile makes a second name of a file, or a copy on another disk.
func linkFile(from, to string) (err error) {
	if os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
