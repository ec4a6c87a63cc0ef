package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DiskError says that the disk does not take what SQLite writes. Nothing is lost by
// it: the transaction is undone.
type DiskError struct {
	Words string // SQLite's
	Err   error
}

func (e *DiskError) Error() string {
	return "it cannot be written, the disk may be full; make room and make a pass again: " + e.Err.Error()
}
func (e *DiskError) Unwrap() error { return e.Err }

// NoRoom says what to look at where SQLite only says that a write failed.
func NoRoom(err error) error {
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

// frozen reports whether a database lies on a file system that is read-only, and is
// whole without its WAL. SQLite cannot read it there as a database that others may
// write, since it puts a file beside it.
func frozen(path string) bool {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return errors.Is(err, syscall.EROFS)
	}
	_ = probe.Close()           // it is empty,
	_ = os.Remove(probe.Name()) // and nobody's
	return false
}
