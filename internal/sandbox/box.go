package sandbox

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Box configures what a command may see and write besides the system's folders and its checkout.
// Paths are absolute.
type Box struct {
	Agent string // required; its name in the config, for messages
	Home  string // required; the operator's home folder
	Path  string // PATH of the command

	Temp     []string // temporary folders besides /tmp and /var/tmp
	Trusted  []string // certificates named by variables
	Programs []string // files named by the agent's command, besides its program
	Homes    []string // folders with the agent program's login and sessions; hidden from tests
	Settings []string // what the agent's program only reads; hidden from tests
	Readable []string // from the config
	Writable []string // from the config; read-only for tests

	Kept   []string // never let in, except Ours and the checkout: the state folder, gh's login
	Hidden []string // let in only by Homes, Settings, Readable or Writable: homes of other agents
	Ours   []string // files that we write for agents, and the mirror's objects
	Items  string   // contains a home folder per work item; empty: each run gets an empty one
	Own    string   // contains the run's other folders; empty: the folder beside the checkout
	SetUp  string   // path of the checkout in which the repository's set-up runs; leads to the command's own checkout; may be empty

	MaxHome  int64 // bytes; a larger home of an item is emptied before a run; 0: no limit
	MaxTasks int   // processes and threads that may run inside at a time, in bubblewrap and not for root; 0: no limit
}

// How is the way in which a path appears in the sandbox.
type How string

// Ways.
const (
	Read    How = "read"
	Write   How = "write"
	Private How = "private" // writable; the path shows the run's own folder instead of the machine's
	Hidden  How = "hidden"  // empty, within a folder that is let in
	Link    How = "link"    // a symbolic link
)

// Entry is a path in the sandbox with the reason for it.
type Entry struct {
	Path string
	How  How
	Why  string

	from string // Private: the folder mounted there; Link: its target
	file bool
	pin  bool // a mount that changes nothing, so that the folder cannot be moved
}

// Alias reports whether a private folder appears under its own path.
func (e Entry) Alias() bool { return e.How == Private && e.from == e.Path }

// private has the folders of one run that replace those outside.
type private struct{ home, temp string }

// Plan lists what a command finds inside, outer paths before inner ones. It creates nothing.
func (b Box) Plan(kind work.Sandbox, program string, j work.Job) []Entry {
	return b.plan(kind, program, j, b.folders(j), systemSecrets())
}

// plan builds the list. For one path the later rule wins; within another path the inner path's rule
// wins. secrets are those of the system's folders.
func (b Box) plan(kind work.Sandbox, program string, j work.Job, own private, secrets []string) []Entry {
	return b.layout(kind, program, j, own, secrets).entries()
}

// layout builds the entries of a plan.
func (b Box) layout(kind work.Sandbox, program string, j work.Job, own private, secrets []string) *layout {
	l := newLayout(b, j.Dir)
	l.system(secrets)
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
	l.add(Entry{Path: l.checkout, How: Write, Why: "the checkout"})
	if b.SetUp != "" && l.real(b.SetUp) != l.checkout {
		l.add(Entry{Path: l.real(b.SetUp), How: Link, Why: "where the set-up ran: what it made may name this path", from: l.checkout})
	}
	if j.Answer != "" {
		l.add(Entry{Path: l.real(j.Answer), How: Write, Why: "for the turn's answer alone"})
	}
	return l
}

// named lets in what the adapter and the config name, even if it was hidden before.
func (l *layout) named(j work.Job) {
	name := func(paths []string, how How, why string) {
		for _, p := range paths {
			l.uncover(l.real(p))
			l.let(p, how, why)
		}
	}
	how := Write
	if j.For == work.RunsTests {
		how = Read
		l.cover(slices.Concat(l.box.Homes, l.box.Settings), "the agent's own home, which tests do not see")
	} else {
		name(l.box.Settings, Read, "the agent's own settings")
		name(l.box.Homes, Write, "the agent's own home: its login and sessions")
	}
	name(l.box.Writable, how, "writable, in the config")
	name(l.box.Readable, Read, "readable, in the config")
}

// private replaces the home and the temporary folders by the run's own. macOS cannot do that: there
// temporary folders are shared, and the home is closed.
func (l *layout) private(kind work.Sandbox, own private) {
	temps := append([]string{"/tmp", "/var/tmp"}, l.box.Temp...)
	if kind == work.SandboxMac {
		for _, t := range temps {
			l.let(t, Write, "temporary folder, shared with the machine")
		}
		return
	}
	put := func(path, from, why string) {
		links, path, err := l.follow(path)
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
	l.ownCaches(own.home)
}

// ownCaches mounts the run's own caches over those of the machine that lie within a folder that can
// only be read, such as a toolchain's.
func (l *layout) ownCaches(home string) {
	caches, own := placesIn(l.box.Home, Private), placesIn(home, Private)
	for i, path := range caches {
		links, at, err := l.follow(path)
		if err != nil || !l.readNode(at).dir || slices.ContainsFunc(links, func(e Entry) bool { return filepath.Base(e.Path) == filepath.Base(path) }) {
			continue
		}
		if around, ok := enclosing(l.sorted(), at); ok && around.How == Read && l.shown(at) {
			l.add(Entry{Path: at, How: Private, Why: "cache of this work item", from: own[i]})
		}
	}
}

// inside reports whether a path is a folder or is in it.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func insideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return inside(path, d) })
}

// holdsAny reports whether a folder is or contains one of others.
func holdsAny(dir string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return inside(o, dir) })
}

// Folders returns the job's own folders that its command may write to besides the checkout: those
// that replace the temporary folders and the home.
func (b Box) Folders(j work.Job) []string { return []string{b.around(j), b.folders(j).home} }

// Leave ends what still runs in the sandbox, and removes what only this run needed: its temporary
// folders, and its home if it got an empty one. A failure does no harm: prepare tries again before the
// next run.
func (b Box) Leave(j work.Job) {
	endLeft(context.Background(), b.recordPath(j), "") //nolint:forbidigo // also of a run that was cancelled nothing stays
	_ = Remove(b.around(j))
}

// emptyHome empties an item's home that is too large for a run, or cannot be measured. Its caches
// fill again.
func (b Box) emptyHome(home string) error {
	if b.MaxHome <= 0 {
		return nil
	}
	if n, _, err := proc.DiskUse(home); err == nil && n <= b.MaxHome {
		return nil
	}
	if err := Remove(home); err != nil {
		return fmt.Errorf("empty the home folder of a work item: %w", err)
	}
	return nil
}
