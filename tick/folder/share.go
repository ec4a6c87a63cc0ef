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
	"github.com/mergexo/gh-mergexo/internal/shard"
)

// shareFile names the share of the repositories that passes on this machine take. It outlives
// the database: a pass that took all repositories for want of it would work beside others.
func (d Dirs) shareFile() string { return filepath.Join(d.State, "share") }

// Share is the share that passes here take unless they are told of another one, such as 2/3 or
// all; empty: nobody told any, and they take all repositories. A file that was cut short tells
// none, and is an error: other machines may have what would be taken.
func (d Dirs) Share() (string, error) {
	text, told, err := d.readShare()
	if err != nil || !told {
		return "", err
	}
	text, whole := strings.CutSuffix(text, "\n")
	if _, err = shard.Parse(text); err == nil && !whole {
		err = fmt.Errorf("%s has no end of line: it may be cut short", d.shareFile())
	}
	if err != nil {
		return "", fmt.Errorf("find out which share of the repositories this machine takes (gh mergexo tick --shard i/n tells it): %w", err)
	}
	return text, nil
}

// ShareBefore is the share that was kept, for whoever tells another one; of what cannot be read
// as one, empty.
func (d Dirs) ShareBefore() string {
	text, err := d.Share()
	if err != nil {
		return ""
	}
	return text
}

func (d Dirs) readShare() (text string, told bool, err error) {
	b, err := os.ReadFile(d.shareFile())
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // what is wrong with the folder is told by whoever writes there
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read which share of the repositories this machine takes: %w", err)
	}
	return string(b), true, nil
}

// KeepShare has passes here take a share from now on. All repositories are one, too: who told
// that is not who never told any.
func (d Dirs) KeepShare(share shard.Shard) error {
	if text, told, err := d.readShare(); err == nil && told && text == share.Argument()+"\n" {
		return nil
	}
	if err := files.Replace(d.shareFile(), share.Argument()+"\n"); err != nil {
		return fmt.Errorf("note which share of the repositories this machine takes: %w", err)
	}
	return nil
}
