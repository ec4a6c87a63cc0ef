package folder

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Installation names this state folder among those of other machines. It outlives the
// database. Whoever asks first, under tick.lock, makes the name.
func (d Dirs) Installation() (string, error) {
	path := filepath.Join(d.State, "installation")
	b, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(b)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := rand.Text()
	return name, files.Replace(path, name+"\n")
}
