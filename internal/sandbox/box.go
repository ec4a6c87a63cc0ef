package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Box says what a command may see and write beside the machine's programs and
// its own checkout. Paths are absolute.
type Box struct {
	Home     string   // required; the operator's
	Path     string   // PATH as the command sees it
	Config   string   // XDG_CONFIG_HOME; empty means ~/.config
	Temp     []string // temporary folders beside /tmp and /var/tmp
	Hidden   []string // the state folder and whatever else is nobody's business
	Readable []string // stays readable within what is hidden
	Writable []string // the homes of agents, and what the config names
}

// Private is the folder for what a checkout's commands find in place of the
// temporary and cache folders. It lies beside the checkout and goes with it.
func Private(dir string) string { return dir + ".box" }

// Wrap gives the command line that runs another one in the sandbox, with dir as
// its checkout and working folder. It makes the private folders of the checkout
// first; where that fails, so will the command, rather than run without.
func (t Tool) Wrap(b Box, argv []string, dir string) []string {
	return t.run(b.mounts(t.Kind, argv[0], dir), argv, dir)
}

func (t Tool) run(mounts []mount, argv []string, dir string) []string {
	if t.Kind == work.SandboxMac {
		return slices.Concat([]string{t.path, "-p", profile(mounts)}, argv)
	}
	return slices.Concat([]string{t.path}, t.bwrap(mounts, dir), argv)
}

// view is how a path appears inside.
type view string

const (
	hidden   view = "hidden"
	readable view = "readable"
	writable view = "writable"
	private  view = "private" // writable, and another folder than outside
)

// mount is a path and how it appears.
type mount struct {
	path string
	view view
	from string // what appears there: a private folder, an empty file
	file bool
}

// mounts lists the paths that appear in another way than the rest of the
// machine, which can be read; what lies deeper comes later. Where a path is
// named twice, the later rule counts.
func (b Box) mounts(kind work.Sandbox, program, dir string) []mount {
	l := list{}
	box := Private(dir)
	_ = os.MkdirAll(box, 0o700)
	empty := filepath.Join(box, "empty")
	_ = os.WriteFile(empty, nil, 0o400)
	for _, p := range b.secrets() {
		l.hide(p, empty)
	}
	var covered []string
	if kind == work.SandboxBwrap {
		covered = l.cover(b, box)
	}
	l.show(readable, b.Readable...)
	for _, p := range append(filepath.SplitList(b.Path), program) {
		if slices.ContainsFunc(covered, func(c string) bool { return inside(real(p), c) }) {
			l.show(readable, p) // programs, wherever they are installed
		}
	}
	for _, p := range b.Writable {
		if filepath.Ext(p) != ".json" { // claude has a file beside its folder
			_ = os.MkdirAll(p, 0o700)
		}
	}
	l.show(writable, b.Writable...)
	if kind == work.SandboxMac {
		l.show(writable, append([]string{"/tmp", "/var/tmp"}, b.Temp...)...)
	}
	l.show(writable, dir)
	slices.SortStableFunc(l.all, func(x, y mount) int { return slices.Compare(strings.Split(x.path, "/"), strings.Split(y.path, "/")) })
	return l.all
}

type list struct{ all []mount }

func (l *list) add(m mount) {
	l.all = slices.DeleteFunc(l.all, func(o mount) bool { return o.path == m.path })
	l.all = append(l.all, m)
}

// hide takes a path out of sight, if it is there.
func (l *list) hide(path, empty string) {
	path = real(path)
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	l.add(mount{path: path, view: hidden, file: !info.IsDir(), from: empty})
}

func (l *list) show(v view, paths ...string) {
	for _, p := range paths {
		if p = real(p); filepath.IsAbs(p) {
			l.add(mount{path: p, view: v})
		}
	}
}

// caches are folders below HOME in which tools keep what they fetched: what an
// agent puts there would be run by the operator's own tools one day.
var caches = []string{".cache", ".npm", "go/pkg", ".cargo/registry", ".cargo/git", ".gradle/caches", ".m2/repository"}

// cover puts private folders over the temporary ones, emptied before every run,
// and over the caches that exist. It gives the paths.
func (l *list) cover(b Box, box string) []string {
	var covered []string
	put := func(path, from string) {
		path = real(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() && path != "/" {
			l.add(mount{path: path, view: private, from: from})
			l.show(writable, from) // an agent's own sandbox makes its mounts at that path as well
			covered = append(covered, path)
		}
	}
	old, _ := os.ReadDir(box)
	for _, o := range old {
		if strings.HasPrefix(o.Name(), "tmp-") {
			_ = os.RemoveAll(filepath.Join(box, o.Name()))
		}
	}
	temp, _ := os.MkdirTemp(box, "tmp-") // no name: the sandbox refuses to start
	for _, c := range caches {
		from := filepath.Join(box, strings.ReplaceAll(c, "/", "_"))
		_ = os.MkdirAll(from, 0o700)
		put(filepath.Join(b.Home, c), from)
	}
	for _, t := range append([]string{"/tmp", "/var/tmp"}, b.Temp...) {
		put(t, temp)
	}
	return covered
}

func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// real follows links as far as the path is there.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
