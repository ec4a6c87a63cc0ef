package files

import "syscall"

// networkKinds are the names of macOS, see mount(8).
var networkKinds = map[string]string{"nfs": "NFS", "smbfs": "SMB", "afpfs": "AFP", "webdav": "WebDAV"}

func networkKind(dir string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return ""
	}
	var name []byte
	for _, c := range fs.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c)) //nolint:gosec // a character
	}
	return networkKinds[string(name)]
}
