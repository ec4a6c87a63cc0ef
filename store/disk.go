package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// DiskError says that the disk does not accept SQLite's writes. Nothing is lost, because the
// transaction is rolled back.
type DiskError struct {
	Words string // SQLite's message
	Err   error
}

func (e *DiskError) Error() string {
	return "it cannot be written, the disk may be full; make room and make a pass again: " + e.Err.Error()
}

// Unwrap returns the error as a fault of this machine.
func (e *DiskError) Unwrap() error { return &work.MachineError{Err: e.Err, Do: work.MakeRoom} }

// explainDiskFull explains what to check if SQLite only reports that a write failed.
func explainDiskFull(err error) error {
	code := (*sqlite.Error)(nil)
	if _, told := errors.AsType[*DiskError](err); told || !errors.As(err, &code) {
		return err
	}
	switch code.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return &DiskError{Words: code.Error(), Err: err}
	}
	return err
}

// isImmutable reports whether a database is on a read-only file system and complete without a WAL.
// SQLite cannot open it there in its normal mode, because it creates a file next to it.
func isImmutable(path string) bool {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return errors.Is(err, syscall.EROFS)
	}
	_ = probe.Close()           // the probe is empty,
	_ = os.Remove(probe.Name()) // and nobody else uses it
	return false
}
