package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Box says what a command may see and write beside the system's folders and its
// own checkout. Paths are absolute.
type Box struct {
	Agent string // required; its name in the config, for messages
	Home  string // required; the operator's
	Path  string // PATH as the command sees it

	Temp     []string // temporary folders beside /tmp and /var/tmp
	Trusted  []string // certificates that variables name
	Programs []string // files that the agent's command names beside its program
	Homes    []string // where the agent's program keeps its login and sessions; the tests do not see them
	Readable []string // from the config
	Writable []string // from the config; the tests may only read them

	Kept   []string // never let in, but for Ours and the checkout: the state folder, gh's login
	Hidden []string // let in only by Homes, Readable or Writable: the homes of other agents
	Ours   []string // what we write for agents, and the objects of the mirror
	Items  string   // holds a home folder for each work item; empty: each run gets an empty one
	Own    string   // holds the run's other folders; empty: it is the one beside the checkout

	MaxHome int64 // bytes; a larger home of an item is emptied before a run; 0: it may grow
}

// How a path stands in the sandbox.
type How string

// The ways.
const (
	Read    How = "read"
	Write   How = "write"
	Private How = "private" // writable, and another folder than outside
	Hidden  How = "hidden"  // empty, within what is let in
	Link    How = "link"    // a symbolic link
)

// Entry is a path that is there inside, and why.
type Entry struct {
	Path string
	How  How
	Why  string

	from string // Private: the folder that stands there; Link: where it leads
	file bool
	pin  bool // a mount of its own although nothing differs, so that it stays in its place
}

// Alias reports whether a private folder stands there under its own path.
func (e Entry) Alias() bool { return e.How == Private && e.from == e.Path }

// private are the folders of one run that stand for those outside.
type private struct{ home, temp string }

// Plan lists what a command finds inside, the inner paths after the outer ones.
// Nothing is made for it.
func (b Box) Plan(kind work.Sandbox, program string, j work.Job) []Entry {
	return b.plan(kind, program, j, b.folders(j))
}

// plan decides. Where two rules are about one path the later one counts; of two
// paths within one another the inner one counts where it is.
func (b Box) plan(kind work.Sandbox, program string, j work.Job, own private) []Entry {
	l := &layout{box: b, checkout: real(j.Dir)}
	l.system()
	l.toolchains()
	l.paths()
	l.program(program, "the program that runs", programDepth)
	for _, p := range b.Programs {
		l.program(p, "the agent's command names it", 1)
	}
	l.trust()
	l.coverToolchains()
	l.named(j)
	l.private(kind, own)
	l.emptied()
	l.cover(b.Hidden, "it belongs to another agent, or holds keys")
	l.cover(b.Kept, "the state of gh mergexo, or gh's login")
	l.ours()
	l.add(Entry{Path: real(j.Dir), How: Write, Why: "the checkout"})
	return l.entries()
}

// named lets in what the adapter and the config name, whoever may read it.
func (l *layout) named(j work.Job) {
	name := func(paths []string, how How, why string) {
		for _, p := range paths {
			l.uncover(real(p))
			l.let(p, how, why)
		}
	}
	how := Write
	if j.For == work.RunsTests {
		how = Read
		l.cover(l.box.Homes, "the agent's own home, which tests do not see")
	} else {
		name(l.box.Homes, Write, "the agent's own home: its login and sessions")
	}
	name(l.box.Writable, how, "writable, in the config")
	name(l.box.Readable, Read, "readable, in the config")
}

// private puts folders of the run's own in place of the home and the temporary
// ones. macOS cannot do that: there the temporary folders are shared, and the
// home is closed.
func (l *layout) private(kind work.Sandbox, own private) {
	temps := append([]string{"/tmp", "/var/tmp"}, l.box.Temp...)
	if kind == work.SandboxMac {
		for _, t := range temps {
			l.let(t, Write, "temporary folder, shared with the machine")
		}
		return
	}
	put := func(path, from, why string) {
		links, path, err := follow(path)
		if err != nil || path == "/" {
			return
		}
		l.links(links, why)
		l.add(Entry{Path: path, How: Private, Why: why, from: from})
		l.add(Entry{Path: from, How: Private, Why: "the same folder under its own path, at which an agent's own sandbox may look for it", from: from})
	}
	for _, t := range temps {
		put(t, own.temp, "temporary folder, empty at first")
	}
	put(l.box.Home, own.home, "home folder, not yours: caches and settings of this work item")
}

// inside reports whether a path is a folder or lies in it.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func insideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return inside(path, d) })
}

// holdsAny reports whether a folder is one of others, or holds one.
func holdsAny(dir string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return inside(o, dir) })
}

// real follows links as far as the path is there.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

func reals(paths []string) []string {
	var all []string
	for _, p := range paths {
		all = append(all, real(p))
	}
	return all
}
