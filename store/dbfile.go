// This file opens a SQLite file that several processes share. It creates the file, migrates
// its schema, notices when it was deleted or replaced, and explains errors of the disk. The caller
// defines the contents.

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors that callers distinguish.
var (
	// errReplaced says that the database file was deleted or replaced while it was open. Further
	// writes would be lost.
	errReplaced = errors.New("the database file was deleted or replaced while it was in use")
	// errNewer says that a newer version of the program wrote the file.
	errNewer = errors.New("written by a newer gh mergexo")
	// ErrOlder says that the file needs a migration, which a reader never does.
	ErrOlder = errors.New("written by an older gh mergexo")
	// errTooOld says that the file is older than the first schema that can be migrated.
	errTooOld = errors.New("written by a gh mergexo from before its first release")
)

// File is an open database.
type File struct {
	SQL  *sql.DB
	Path string
	info fs.FileInfo
}

// Close releases the file.
func (d *File) Close() error {
	if err := d.SQL.Close(); err != nil {
		return fmt.Errorf("close %s: %w", d.Path, err)
	}
	return nil
}

// InPlace checks that the path still leads to the open file, and returns errReplaced if not. SQLite
// writes to a deleted file without an error.
func (d *File) InPlace() error {
	now, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write to %s: %w", d.Path, errReplaced)
	case err != nil:
		return fmt.Errorf("write to %s: %w", d.Path, err)
	case !os.SameFile(d.info, now):
		return fmt.Errorf("write to %s: %w", d.Path, errReplaced)
	}
	return nil
}

// interrupted adds the context's error to an error that it caused, because SQLite only reports
// "interrupted".
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
