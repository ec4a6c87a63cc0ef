package folder

import (
	"fmt"
	"path/filepath"
)

// HeldLocks returns the names of held locks; none: no pass is running.
func (d Dirs) HeldLocks() ([]string, error) {
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
