package files

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// SyncAll makes files durable, many at once: a file system commits them
// together, where one after the other each waits for the disk.
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

// syncFile opens for reading: objects are read-only. Windows, which wants
// leave to write for this, is served by git (see package plumbing).
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

// SyncFolder makes the names in a folder durable, where the system can.
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
