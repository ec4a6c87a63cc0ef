package folder

import (
	"fmt"
	"path/filepath"
)

// Busy names the locks that somebody holds: none where no pass works.
func (d Dirs) Busy() ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(d.locks(), "*.lock"))
	if err != nil {
		return nil, fmt.Errorf("list the locks: %w", err)
	}
	var held []string
	for _, path := range paths {
		l, free, err := TryLock(path)
		if err != nil {
			return nil, err
		}
		if free {
			l.Unlock()
		} else {
			held = append(held, filepath.Base(path))
		}
	}
	return held, nil
}
