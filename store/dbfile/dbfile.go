// Package dbfile is a SQLite file that several processes have open: it opens and
// makes it, brings its schema up to date, notices when it is taken away, and
// says in plain words what is wrong with the disk. What is in it is the
// caller's.
package dbfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors that callers tell apart.
var (
	// ErrReplaced says that the database file was deleted or replaced while it
	// was open. What would be written now, nobody would read.
	ErrReplaced = errors.New("the database file was deleted or replaced while it was in use")
	// ErrNewer says that a newer version of the program wrote the file.
	ErrNewer = errors.New("written by a newer gh mergexo")
	// ErrOlder says that the file waits for a migration, which a reader never makes.
	ErrOlder = errors.New("written by an older gh mergexo")
	// ErrTooOld says that the file is from before the first schema, from which no
	// migration leads on.
	ErrTooOld = errors.New("written by a gh mergexo from before its first release")
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

// InPlace tells whether the path still leads to the file that is open, with an error
// that is ErrReplaced where it does not. SQLite writes on to a deleted file
// without a word.
func (d *File) InPlace() error {
	now, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write to %s: %w", d.Path, ErrReplaced)
	case err != nil:
		return fmt.Errorf("write to %s: %w", d.Path, err)
	case !os.SameFile(d.info, now):
		return fmt.Errorf("write to %s: %w", d.Path, ErrReplaced)
	}
	return nil
}

// Interrupted makes the context's end visible in an error that it caused:
// SQLite only says "interrupted".
func Interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
