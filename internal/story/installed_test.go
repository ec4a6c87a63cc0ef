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

// layout is a way in which people install the agents' programs.
type layout struct {
	name string
	// place says where, and skips the test where that cannot be had.
	place func(t *testing.T) func(home string) string
	// install puts a program of the tests' installation, whose links are in bin,
	// there. It gives the folder for PATH, and the node that came with it.
	install func(place, program, bin string) (path, node string, err error)
}

var layouts = []layout{
	{"npm in the home folder", inHome(".npm-global"), byNpm},
	{"nvm", inHome(".nvm/versions/node/v20.0.0"), byNvm},
	{"system-wide", inSystem, byNpm},
	{"a link in ~/.local/bin", inHome(".local"), byLink},
}

func inHome(path string) func(*testing.T) func(string) string {
	return func(*testing.T) func(string) string {
		return func(home string) string { return filepath.Join(home, path) }
	}
}

// inSystem is a folder where the system has its programs.
func inSystem(t *testing.T) func(string) string {
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
	if testing.Short() {
		t.Skip("real agents are not for -short")
	}
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
	place := l.place(t)
	p := agentParams(t)
	p.Files = []string{filepath.Join(agentStories, "installed", "turn.txtar")}
	p.WorkdirRoot = testhome.New(t)
	p.Setup = func(e *testscript.Env) error {
		path, node, err := l.install(place(filepath.Join(e.WorkDir, "home")), program, bin)
		if err != nil {
			return fmt.Errorf("install %s: %w", program, err)
		}
		rest := e.Getenv("PATH")
		if err := setUpAgents(e, t, ""); err != nil {
			return err
		}
		for name, value := range map[string]string{
			"PATH": path + string(filepath.ListSeparator) + rest, "PROGRAM": program, "LAYOUT": l.name, "CLIS": bin, "NODE": node,
		} {
			e.Setenv(name, value)
		}
		return nil
	}
	testscript.Run(t, p)
}

// byNpm installs a program with a prefix as npm would: its package, the package
// for this platform within, and a link.
func byNpm(prefix, program, bin string) (path, node string, err error) {
	file, platform, err := packagesOf(program, bin)
	if err != nil {
		return "", "", err
	}
	scope, rest, _ := strings.Cut(file, "/")
	pack, _, _ := strings.Cut(rest, "/")
	modules := filepath.Join(prefix, "lib", "node_modules", scope, pack)
	if err := linkTree(filepath.Join(filepath.Dir(bin), scope, pack), modules); err != nil {
		return "", "", err
	}
	if err := linkTree(platform, filepath.Join(modules, "node_modules", scope, filepath.Base(platform))); err != nil {
		return "", "", err
	}
	path = filepath.Join(prefix, "bin")
	return path, "node", linkTo(filepath.Join("..", "lib", "node_modules", file), filepath.Join(path, program))
}

// byNvm installs likewise, with a node of its own.
func byNvm(prefix, program, bin string) (path, node string, err error) {
	if path, _, err = byNpm(prefix, program, bin); err != nil {
		return "", "", err
	}
	if node, err = exec.LookPath("node"); err != nil {
		return "", "", err
	}
	if node, err = filepath.EvalSymlinks(node); err != nil {
		return "", "", err
	}
	return path, filepath.Join(path, "node"), linkFile(node, filepath.Join(path, "node"))
}

// byLink installs the program without its package, as claude's own installer
// does and as people unpack codex's archive.
func byLink(local, program, bin string) (path, node string, err error) {
	_, platform, err := packagesOf(program, bin)
	if err != nil {
		return "", "", err
	}
	from, to, start := filepath.Join(platform, "claude"), filepath.Join(local, "share", "claude", "versions", "2.0.0"), ""
	if program == "codex" {
		archives, err := filepath.Glob(filepath.Join(platform, "vendor", "*"))
		if len(archives) != 1 {
			return "", "", errors.Join(err, fmt.Errorf("find the archive of codex: got %q", archives))
		}
		from, to, start = archives[0], filepath.Join(local, "opt", "codex"), "bin/codex"
	}
	if err := linkTree(from, to); err != nil {
		return "", "", err
	}
	path = filepath.Join(local, "bin")
	return path, "node", linkTo(filepath.Join(to, start), filepath.Join(path, program))
}

// packagesOf finds a program's file, "@scope/package/bin/file", and the folder
// of the package for this platform.
func packagesOf(program, bin string) (file, platform string, err error) {
	target, err := os.Readlink(filepath.Join(bin, program))
	if err != nil {
		return "", "", err
	}
	file = strings.TrimPrefix(filepath.ToSlash(target), "../")
	scope, rest, _ := strings.Cut(file, "/")
	pack, _, _ := strings.Cut(rest, "/")
	found, err := filepath.Glob(filepath.Join(filepath.Dir(bin), scope, pack+"-*"))
	if len(found) != 1 {
		return "", "", errors.Join(err, fmt.Errorf("find the package of %s for this platform: got %q", program, found))
	}
	return file, found[0], nil
}

func linkTo(target, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.Symlink(target, path)
}

// linkTree makes a second tree of the same files.
func linkTree(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
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
