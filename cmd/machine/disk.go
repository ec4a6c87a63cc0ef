package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

// anotherFolder is the remedy for an unusable state folder.
const anotherFolder = "set runtime.state_dir in the config to a folder that you may write to"

// DiskTrouble returns in one line the problem with the disk or the state folder behind err, with
// the remedy; empty if there is none.
func DiskTrouble(err error, state string) string {
	where := filepath.Join(state, "state.db")
	file, named := errors.AsType[*fs.PathError](err)
	if named {
		where = file.Path
	}
	full, isFull := errors.AsType[*store.DiskError](err)
	switch {
	case errors.Is(err, syscall.EROFS):
		return where + ": it cannot be written, the file system is read-only; mount it for writing, or " + anotherFolder
	case isFull:
		return fmt.Sprintf("%s: it cannot be written, the disk may be full; make room and run a pass again: nothing is lost (%s)", filepath.Join(state, "state.db"), terminal.OneLine(full.Words))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return where + ": it cannot be written, the disk is full; make room and make a pass again: nothing is lost"
	case named && errors.Is(err, fs.ErrPermission) && state != "" && strings.HasPrefix(where, state):
		return fmt.Sprintf("%s: you may not use it (%v); give the folder %s to the user who runs gh mergexo, or %s", where, file.Err, state, anotherFolder)
	case named && errors.Is(err, syscall.ENOTDIR):
		return fmt.Sprintf("%s: %v; %s", where, file.Err, anotherFolder)
	}
	return ""
}
