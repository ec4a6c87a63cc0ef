package folder

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Installation names this state folder, on this machine, among those of other machines. It
// outlives the database. The first call makes the name. A folder that was copied to a machine with
// another id has another name there.
func (d Dirs) Installation(machine string) (string, error) {
	path := filepath.Join(d.State, "installation")
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := strings.TrimSpace(string(b))
	if name == "" {
		name = rand.Text()
		if err := files.Replace(path, name+"\n"); err != nil {
			return "", err
		}
	}
	if machine == "" {
		return name, nil
	}
	sum := sha256.Sum256([]byte(name + "\n" + machine)) // hashed, so that the machine's id is not published
	return name + "-" + hex.EncodeToString(sum[:4]), nil
}

// MachineID returns Linux's machine id; empty: there is none.
func MachineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		b, err := os.ReadFile(path)
		if id := strings.TrimSpace(string(b)); err == nil && id != "" && id != "uninitialized" {
			return id
		}
	}
	return ""
}
