package sandbox

import (
	"os"
	"strings"
)

// bwrap gives bubblewrap's arguments before the command. Signals that kill
// bwrap kill everything inside, and so does our own death.
func (t Tool) bwrap(mounts []mount, dir string) []string {
	args := []string{"--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"}
	if t.root {
		// Root would keep all its capabilities, and could take the mounts away
		// that hide things. As another user of a user namespace it has none, and
		// an agent's own sandbox can still make a namespace within.
		args = append(args, "--unshare-user", "--uid", "1000", "--gid", "1000")
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	for _, s := range sockets {
		if real(s) == s {
			args = append(args, "--tmpfs", s)
		}
	}
	for _, n := range stillNeeded {
		if r := real(n); strings.HasPrefix(r, "/run/") && there(r) {
			args = append(args, "--ro-bind", r, r)
		}
	}
	for _, m := range mounts {
		args = append(args, m.bwrap()...)
	}
	return append(args, "--chdir", dir, "--")
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (m mount) bwrap() []string {
	switch {
	case m.view == hidden && m.file:
		return []string{"--ro-bind", m.from, m.path}
	case m.view == hidden:
		return []string{"--tmpfs", m.path}
	case m.view == readable:
		return []string{"--ro-bind-try", m.path, m.path}
	case m.view == writable:
		return []string{"--bind-try", m.path, m.path}
	}
	return []string{"--bind", m.from, m.path}
}
