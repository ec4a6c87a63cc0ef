package sandbox

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Folders are those of a job's own that its command may write to, beside the
// checkout: what stands for the temporary folders and the home.
func (b Box) Folders(j work.Job) []string { return []string{b.around(j), b.folders(j).home} }

// Leave removes what only this run of a job needed: its temporary folders, and
// the home of one that gets an empty one. What cannot be removed keeps nobody
// from anything: it is tried again before the next run.
func (b Box) Leave(j work.Job) { _ = Remove(b.around(j)) }

// emptyHome empties the home of an item whose caches left too little room for a
// run. Caches are filled again.
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
