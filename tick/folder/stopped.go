package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// stoppedFile says that nothing is merged in a repository until a person says so. The
// database says so, too; but it may be lost, and with it why nobody is to merge.
func (d Dirs) stoppedFile(r work.Repo) string {
	return filepath.Join(d.State, "merging-stopped-"+r.Name.Host+"-"+r.Folder()+".json")
}

// StopMerging keeps why nothing is merged in a repository any more.
func (d Dirs) StopMerging(r work.Repo, why work.Reason) error {
	b, err := json.Marshal(why)
	if err != nil {
		return fmt.Errorf("keep that merging is stopped: %w", err)
	}
	return d.replace(d.stoppedFile(r), append(b, '\n'))
}

// MergingStopped tells whether merging was stopped in a repository, and why. A file that
// cannot be read is a stop, too.
func (d Dirs) MergingStopped(r work.Repo) (work.Reason, bool) {
	b, err := os.ReadFile(d.stoppedFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return work.Reason{}, false
	}
	var why work.Reason
	if err == nil {
		err = json.Unmarshal(b, &why)
	}
	if err != nil || why.None() {
		why = work.Reason{Kind: work.WhyMergeDiffers, Text: "the file " + filepath.Base(d.stoppedFile(r)) + " in the state folder cannot be read"}
	}
	return why, true
}

// ResumeMerging forgets that merging was stopped.
func (d Dirs) ResumeMerging(r work.Repo) error {
	err := os.Remove(d.stoppedFile(r))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = files.SyncFolder(d.State)
	}
	if err != nil {
		return fmt.Errorf("resume merging: %w", err)
	}
	return nil
}
