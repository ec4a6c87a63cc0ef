package files

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// SyncAll syncs files in parallel: the file system then commits them together instead of waiting
// for the disk once per file.
func SyncAll(files []string) error {
	const atOnce = 16
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for n := range atOnce {
		wg.Go(func() {
			for i := n; i < len(files) && errs[n] == nil; i += atOnce {
				errs[n] = syncFile(files[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// syncFile opens the file for reading, because git's objects are read-only. Windows syncs only
// writable files; there git syncs its objects itself.
func syncFile(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// SyncFolder syncs a folder's entries, if the system supports it.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
