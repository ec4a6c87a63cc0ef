package sandbox

import (
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// kernelSettings are settings of the whole machine. If root runs us, the kernel lets it write to
// them even from inside: a program named in /proc/sys/kernel/core_pattern runs outside. While these
// are mounted over, a nested namespace cannot mount another /proc.
var kernelSettings = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"}

// Wrap creates the folders of the sandbox and returns the command line that runs argv in it, and the
// folders beside the checkout that an agent's own sandbox may let its commands write to. A program
// that would not be visible inside is a *work.BlockedError.
func (t Tool) Wrap(b Box, argv []string, j work.Job) (line, writable []string, err error) {
	own := b.folders(j)
	if err := b.prepare(j, own); err != nil {
		return nil, nil, err
	}
	l := b.layout(t.Kind, argv[0], j, own, t.secrets())
	all := l.entries()
	if missing, ok := b.visible(all, argv[0]); !ok && t.Kind == work.SandboxBwrap {
		return nil, nil, b.notVisible(argv[0], missing)
	}
	if t.Kind == work.SandboxMac {
		return slices.Concat([]string{t.path, "-p", profile(all, j.Offline)}, argv), l.writable(all), nil
	}
	if err := mountPoints(all, own.home); err != nil {
		return nil, nil, err
	}
	line, err = t.recorded(b, j, slices.Concat([]string{t.path}, t.bwrap(all, b.emptyFile(j), j), t.bounded(b.MaxTasks, argv)))
	return line, l.writable(all), err
}

// bwrap returns bubblewrap's arguments before the command. The root starts empty and becomes
// read-only. A signal that kills bwrap kills everything inside, and so does our own death.
func (t Tool) bwrap(all []Entry, empty string, j work.Job) []string {
	args := []string{"--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	if j.Offline {
		args = append(args, "--unshare-net") // also without the machine's loopback and abstract sockets
	}
	if t.root {
		// Root would keep all its capabilities and could unmount what hides files. As another user
		// of a user namespace it has none, and an agent's own sandbox can still create a nested
		// namespace.
		args = append(args, "--unshare-user", "--uid", "1000", "--gid", "1000")
	}
	args = append(args, "--tmpfs", "/", "--dev", "/dev", "--proc", "/proc")
	for _, p := range kernelSettings {
		args = append(args, "--ro-bind-try", p, p)
	}
	last := []string{"--remount-ro", "/"}
	for i, e := range all {
		switch {
		case e.How == Link:
			if around, ok := enclosing(all[:i], e.Path); !ok || around.How != Private {
				args = append(args, "--symlink", e.from, e.Path)
			}
		case e.How == Hidden && e.file:
			args = append(args, "--ro-bind", empty, e.Path)
		case e.How == Hidden:
			args = append(args, "--tmpfs", e.Path)
			last = append(last, "--remount-ro", e.Path)
		case e.How == Read:
			args = append(args, "--ro-bind-try", e.Path, e.Path)
		case e.How == Write:
			args = append(args, "--bind-try", e.Path, e.Path)
		case e.How == Private:
			args = append(args, "--bind", e.from, e.Path)
		}
	}
	return slices.Concat(args, last, []string{"--chdir", j.Dir, "--"})
}

// bounded prepends a shell that limits the number of tasks. Set inside, the limit counts those of the
// sandbox's user namespace and of nested ones, and nobody inside can raise it; kernels before 5.14
// count all of the user's. They never limit root. A program that cannot be started is reported in the
// words of bubblewrap.
func (t Tool) bounded(tasks int, argv []string) []string {
	if tasks <= 0 || t.root {
		return argv
	}
	const limit = `ulimit -u "$1" 2>/dev/null || ulimit -p "$1" 2>/dev/null; shift; exec "$@"` // bash, then dash
	return slices.Concat([]string{"/bin/sh", "-c", limit, "bwrap: execvp", strconv.Itoa(tasks)}, argv)
}
