package sandbox

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Folders returns the job's own folders that its command may write to besides the checkout: those
// that replace the temporary folders and the home.
func (b Box) Folders(j work.Job) []string { return []string{b.around(j), b.folders(j).home} }

// Leave removes what only this run needed: its temporary folders, and its home if it got an empty
// one. A failure does no harm: prepare tries again before the next run.
func (b Box) Leave(j work.Job) { _ = Remove(b.around(j)) }

// emptyHome empties an item's home that is too large for a run, or cannot be measured. Its caches
// fill again.
func (b Box) emptyHome(home string) error {
	if b.MaxHome <= 0 {
		return nil
	}
	if n, _, err := proc.DiskUse(home); err == nil && n <= b.MaxHome {
		return nil
	}
	if err := Remove(home); err != nil {
		return fmt.Errorf("empty the home folder of a work item: %w", err)
	}
	return nil
}
