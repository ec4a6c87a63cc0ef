//go:build unix

package story

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
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
		if err == nil { // a private folder would be hidden in the sandboxes of other tests, and be gone before they begin
			err = os.Chmod(dir, 0o755)
		}
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
	testhome.OnlyLong(t)
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			for _, program := range []string{"codex", "claude"} {
				t.Run(program, func(t *testing.T) {
					t.Parallel()
					playInstalled(t, l, program, bin, "installed", nil)
				})
			}
		})
	}
}

// unusable are installations whose program cannot start.
var unusable = []struct {
	program string
	layout  layout
	without []string          // names that PATH does not have
	env     map[string]string // what the story is to find
}{
	{
		"claude",
		layout{"npm with --ignore-scripts", inHome(".npm-global"), byNpmWithoutScripts},
		nil,
		map[string]string{
			"STOPS": `The program of agent "claude" does not start on the machine that runs gh mergexo\. No tokens were used\.`,
			"SAYS":  `The program of agent "claude" does not start .*claude native binary not installed.*install\.cjs`, // the program's own words
			"DO": "run `npm install -g @anthropic-ai/claude-code --ignore-scripts=false` to install it again, with its install scripts; " +
				"if it starts outside of the sandbox, add the folder that it lacks to readable of [runtime]",
			"MEND": `node "$HOME/.npm-global/lib/node_modules/@anthropic-ai/claude-code/install.cjs"`,
		},
	},
	{
		"codex",
		layout{"npm, and cron's PATH without node", inHome(".npm-global"), byNpm},
		[]string{"node", "nodejs"},
		map[string]string{
			"STOPS": `"node", which the program of agent "codex" needs, is not on the PATH that gh mergexo was started with\.`,
			"SAYS":  `"node", which the program of agent "codex" needs, is not on the PATH that gh mergexo was started with\. The program is \S+/bin/codex\.`,
			"DO":    "add the folder of node to PATH (under cron: on a PATH line of the crontab) on the machine that runs gh mergexo",
			"MEND":  `ln -s "$(PATH=$REST command -v node)" "${PATH%%:*}/node"`,
		},
	},
}

// TestAgentsThatCannotStart has doctor and a pass meet a real program in such an installation.
func TestAgentsThatCannotStart(t *testing.T) {
	testhome.OnlyLong(t)
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	for _, u := range unusable {
		t.Run(u.layout.name, func(t *testing.T) {
			t.Parallel()
			playInstalled(t, u.layout, u.program, bin, "unusable", u.env, u.without...)
		})
	}
}

// byNpmWithoutScripts installs likewise, where npm runs no install script of a package.
func byNpmWithoutScripts(prefix, program, bin string) (path, node string, err error) {
	if path, node, err = byNpm(prefix, program, bin); err != nil {
		return "", "", err
	}
	file, err := filepath.EvalSymlinks(filepath.Join(path, program))
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(filepath.Join(bin, "..", "..", program+"-without-scripts")) // a copy: the install script may write to it
	if err != nil {
		return "", "", err
	}
	return path, node, errors.Join(os.Remove(file), os.WriteFile(file, text, 0o755))
}

// allBut makes a folder of links to the programs of PATH without those of some names.
func allBut(dir, path string, names ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, from := range filepath.SplitList(path) {
		entries, _ := os.ReadDir(from) // PATH may name what is not there
		for _, e := range entries {
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// playInstalled plays a story of a folder with a program that a layout installs, and with more variables, where PATH
// lacks some programs.
func playInstalled(t *testing.T, l layout, program, bin, story string, env map[string]string, without ...string) {
	place := l.place(t)
	p := agentParams(t)
	p.Files = []string{filepath.Join(agentStories, story, "turn.txtar")}
	p.WorkdirRoot = testhome.New(t)
	p.Setup = func(e *testscript.Env) error {
		path, node, err := l.install(place(filepath.Join(e.WorkDir, "home")), program, bin)
		if err != nil {
			return fmt.Errorf("install %s: %w", program, err)
		}
		rest := e.Getenv("PATH")
		env := maps.Clone(env)
		if env == nil {
			env = map[string]string{}
		}
		if len(without) > 0 {
			dir := filepath.Join(e.WorkDir, "programs")
			if err := allBut(dir, rest, without...); err != nil {
				return err
			}
			env["REST"], rest = rest, dir
		}
		maps.Copy(env, map[string]string{
			"PATH": path + string(filepath.ListSeparator) + rest, "PROGRAM": program, "LAYOUT": l.name, "CLIS": bin, "NODE": node,
		})
		if err := setUpAgents(e, t, ""); err != nil {
			return err
		}
		for name, value := range env {
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
