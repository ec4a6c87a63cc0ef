package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemPaths hold what every program of the machine needs, and nothing that
// is one user's own.
var systemPaths = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu",
	"/run/current-system", "/run/opengl-driver", // of NixOS
	"/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm", // how many processors there are, how much memory
}

// names are files and folders below /etc that lead elsewhere on some systems:
// how names are found, certificates, the time zone.
var names = []string{
	"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/localtime", "/etc/ssl/certs", "/etc/ssl/cert.pem",
	"/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
}

// systemSockets lie in the system's folders, and what answers there acts with
// other rights than an agent's.
var systemSockets = []string{"/nix/var/nix/daemon-socket", "/nix/var/determinate", "/gnu/var"}

// Only what everybody may read is let in of these folders, this deep: passwords,
// host keys, certificates' keys. Root, and a group's member, could read more.
var publicOnly = map[string]int{"/etc": 12, "/opt": 4, "/usr/local": 4}

func (l *layout) systemFolders() {
	for _, p := range systemPaths {
		l.let(p, Read, "the system's own")
	}
}

func (l *layout) system() {
	l.systemFolders()
	for _, p := range names {
		l.let(p, Read, "to find names, certificates and the time zone")
	}
	l.cover(systemSockets, "a socket to a service with other rights")
	l.cover(systemSecrets(), "not for everybody to read")
}

// systemSecrets are what in the system's folders is not for everybody to read. They are walked
// side by side: that is most of what a plan takes. It is done for each plan, since what
// appeared a moment ago is covered, too.
func systemSecrets() []string {
	found := make(chan []string)
	for dir, deep := range publicOnly {
		go func() { found <- secretIn(real(dir), deep) }()
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

// secretIn lists what in a folder we may read and not everybody may, and what
// leads to other programs, as deep as is said.
func secretIn(dir string, deep int) []string {
	var all []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil //nolint:nilerr // what we may not read, no agent of ours may
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

func weMayRead(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
