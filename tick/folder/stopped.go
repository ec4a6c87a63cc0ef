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

// stoppedFile is the file which says that merging is stopped in a repository until a person resumes
// it. The database has the same, but may be lost.
func (d Dirs) stoppedFile(r work.Repo) string {
	return filepath.Join(d.State, "merging-stopped-"+r.Name.Host+"-"+r.Folder()+".json")
}

// StopMerging stores why merging is stopped in a repository.
func (d Dirs) StopMerging(r work.Repo, why work.Reason) error {
	b, err := json.Marshal(why)
	if err != nil {
		return fmt.Errorf("keep that merging is stopped: %w", err)
	}
	return d.replace(d.stoppedFile(r), append(b, '\n'))
}

// MergingStopped returns why merging was stopped in a repository; false: it was not. An unreadable
// file is a stop too.
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

// ResumeMerging deletes the file.
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
