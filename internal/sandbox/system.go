package sandbox

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	f, err := os.Open(dir)
	if err != nil {
		return nil // what we may not read, no agent of ours may
	}
	defer func() { _ = f.Close() }()
	return secretsOf(f, deep)
}

// secretFolder is secretIn for a folder that may be secret itself.
func secretFolder(dir string, deep int) []string {
	f, err := os.Open(dir)
	if err != nil {
		return []string{dir} // if it is gone, nothing is hidden
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil, info.Mode().Perm()&0o005 != 0o005:
		return []string{dir}
	case deep == 0:
		return nil
	}
	return secretsOf(f, deep)
}

func secretsOf(f *os.File, deep int) (all []string) {
	dir := f.Name()
	entries, _ := f.ReadDir(-1) // of a damaged folder, what could be read
	if isGo(dir, entries) {
		return nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			all = append(all, secretFolder(path, deep-1)...)
		case e.Type().IsRegular():
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o004 == 0 && weMayRead(path) {
				all = append(all, path)
			}
		case e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
			all = append(all, path)
		}
	}
	return all
}

// isGo reports whether a folder with these entries is an installation of Go.
func isGo(dir string, entries []fs.DirEntry) bool {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "go.env" }) {
		return false
	}
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
