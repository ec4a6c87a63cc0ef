package known

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Footprint returns the files that an item touches: those of its pull request, or those on the base
// that its touch paths match. A path that matches nothing is a new file. The design document is
// left out: each item has its own.
func (v *Snapshot) Footprint(item work.Item, files []string) work.Footprint {
	f := work.Footprint{Files: map[string]bool{}, Size: item.Size}
	for _, path := range files {
		if path != item.Document {
			f.Files[path] = true
		}
	}
	if len(files) > 0 {
		return f
	}
	for _, glob := range item.TouchPaths {
		found := false
		for _, path := range v.paths() {
			if v.Policy.Match(glob, path) {
				f.Files[path], found = true, true
			}
		}
		if !found {
			f.Files[glob] = true
		}
	}
	return f
}

// paths returns the files a glob may match: those of the base, and those that active items change.
// status does not ask git, and so has only the latter.
func (v *Snapshot) paths() []string {
	paths := slices.Clone(v.Files)
	for _, i := range v.Items {
		if i.Active() {
			paths = append(paths, i.Pull.Files...)
		}
	}
	return paths
}
