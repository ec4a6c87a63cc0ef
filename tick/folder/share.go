package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// shareFile names the share of the repositories that passes on this machine take. It outlives
// the database: a pass that took all repositories for want of it would work beside others.
func (d Dirs) shareFile() string { return filepath.Join(d.State, "share") }

// Share is the share that passes here take unless they are told of another one, such as 2/3;
// empty: all repositories.
func (d Dirs) Share() (string, error) {
	b, err := os.ReadFile(d.shareFile())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // what is wrong with the folder is told by whoever writes there
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read which share of the repositories this machine takes: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// KeepShare has passes here take a share from now on; empty: all repositories.
func (d Dirs) KeepShare(share string) error {
	var err error
	if share != "" {
		err = files.Replace(d.shareFile(), share+"\n")
	} else if err = os.Remove(d.shareFile()); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("note which share of the repositories this machine takes: %w", err)
	}
	return nil
}
