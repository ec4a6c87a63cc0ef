package known

import (
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/score"
)

// Footprint is what an item touches: the files of its pull request, or what its
// touch paths match on the base. A path that matches nothing is a new file. The
// design document is each one's own.
func (v *Snapshot) Footprint(item work.Item, files []string) score.Footprint {
	f := score.Footprint{Files: map[string]bool{}, Size: item.Size}
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

// paths are those that a glob may mean: of the base, and what is changed by what is
// under way. Without git, which status does not ask, the second are known all the same.
func (v *Snapshot) paths() []string {
	paths := slices.Clone(v.Files)
	for _, i := range v.Items {
		if i.Active() {
			paths = append(paths, i.Pull.Files...)
		}
	}
	return paths
}
