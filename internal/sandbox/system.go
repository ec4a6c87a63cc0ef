package sandbox

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemPaths contain what every program of the machine needs, and nothing of a single user's.
var systemPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
	"/run/current-system", "/run/opengl-driver", // NixOS
	"/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm", // number of processors, size of memory
}

// names are files and folders below /etc that are links to elsewhere on some systems: name
// resolution, certificates, the time zone.
var names = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ssl/certs", "/etc/ssl/cert.pem",
	"/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
}

// systemSockets are in the system's folders; services behind them act with other rights than the
// agent's.
var systemSockets = []string{"/nix/var/nix/daemon-socket", "/nix/var/determinate", "/gnu/var"}

// publicOnly are folders, with the depth searched, of which only world-readable content is let in.
// The rest may be passwords, host keys and keys of certificates, which root or a member of a group
// could read.
var publicOnly = map[string]int{"/etc": 12, "/opt": 4, "/usr/local": 4}

func (l *layout) systemFolders() {
	for _, p := range systemPaths {
		l.let(p, Read, "the system's own")
	}
}

func (l *layout) system(secrets []string) {
	l.systemFolders()
	for _, p := range names {
		l.let(p, Read, "to find names, certificates and the time zone")
	}
	l.cover(systemSockets, "a socket to a service with other rights")
	l.cover(secrets, "not for everybody to read")
}

// systemSecrets returns what is not world-readable in the system's folders. It looks at every file
// there, so a Tool, which serves one pass, does so once: a file that turns private during a pass is
// hidden from the next pass on.
func systemSecrets() []string {
	found := make(chan []string)
	for dir, deep := range publicOnly {
		go func() { found <- secretIn(newLayout(Box{}, "").real(dir), deep) }()
	}
	var all []string
	for range publicOnly {
		all = append(all, <-found...)
	}
	slices.Sort(all)
	return all
}

// trust lets in the certificates that the environment names.
func (l *layout) trust() {
	for _, p := range l.box.Trusted {
		l.let(p, Read, "certificates that the environment names")
	}
}

// secretIn lists what we can read in a folder but not everybody can, and what leads to other
// programs (sockets, pipes, devices), down to the given depth. It does not look into an installation
// of Go: that is a copy of a public archive, with more files than all else in these folders.
func secretIn(dir string, deep int) []string {
	var all []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil //nolint:nilerr // what we may not read, no agent of ours may
		}
		if d.Name() == "go.env" && isGo(filepath.Dir(path)) {
			return filepath.SkipDir // the rest of the folder that the file is in
		}
		if d.Type() == fs.ModeSymlink {
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return nil //nolint:nilerr // gone, which is as well
		case d.IsDir() && info.Mode().Perm()&0o005 != 0o005:
			all = append(all, path)
			return filepath.SkipDir
		case d.Type().IsRegular() && info.Mode().Perm()&0o004 == 0 && weMayRead(path), d.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
			all = append(all, path)
		case d.IsDir() && strings.Count(path[len(dir):], "/") >= deep:
			return filepath.SkipDir
		}
		return nil
	})
	return all
}

// isGo reports whether a folder with a go.env is an installation of Go.
func isGo(dir string) bool {
	version, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	return err == nil && bytes.HasPrefix(version, []byte("go1"))
}

func weMayRead(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
