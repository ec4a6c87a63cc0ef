package store

import (
	"errors"
	"fmt"
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

// DamagedError says that the database file is damaged. The next pass makes a new one from GitHub if
// the file is moved away.
type DamagedError struct {
	Path  string
	Words string // SQLite's message
	Err   error
}

func (e *DamagedError) Error() string { return e.Path + " is damaged: " + e.Words }
func (e *DamagedError) Unwrap() error { return e.Err }

// MoveAway returns the command that moves the file away and makes a new one.
func (e *DamagedError) MoveAway() string { return moveAway(e.Path, ".damaged") + " && gh mergexo tick" }

// moveAway returns the command that moves a database file away, also beside a pass: in one step, and
// without its WAL, which who makes the new file removes. A WAL that is moved after the file may be that of a new one.
func moveAway(path, suffix string) string { return fmt.Sprintf("mv %q %q", path, path+suffix) }

// besides are the suffixes of a database's files.
var besides = []string{"", "-wal", "-shm", "-journal"}

// explainFile explains SQLite's errors about a database file: that it cannot be written, or that it is
// damaged.
func explainFile(path string, err error) error {
	code := (*sqlite.Error)(nil)
	_, full := errors.AsType[*DiskError](err)
	_, damaged := errors.AsType[*DamagedError](err)
	if full || damaged || !errors.As(err, &code) {
		return err
	}
	switch code.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return &DiskError{Words: code.Error(), Err: err}
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &DamagedError{Path: path, Words: code.Error(), Err: err}
	case sqlite3.SQLITE_READONLY:
		do := fmt.Sprintf("chmod u+w %q", path)
		if onReadOnly(path) {
			do = work.MountForWriting
		}
		return &work.MachineError{Err: fmt.Errorf("%s cannot be written: %w", path, err), Do: do}
	}
	return err
}

// isImmutable reports whether a database is on a read-only file system and complete without a WAL.
// SQLite cannot open it there in its normal mode, because it creates a file next to it.
func isImmutable(path string) bool {
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return onReadOnly(path)
}

// onReadOnly reports whether a file is on a read-only file system. To open the file itself would cost SQLite its locks.
func onReadOnly(path string) bool {
	probe, err := os.CreateTemp(filepath.Dir(path), ".probe-*")
	if err != nil {
		return errors.Is(err, syscall.EROFS)
	}
	_ = probe.Close()           // the probe is empty,
	_ = os.Remove(probe.Name()) // and nobody else uses it
	return false
}
