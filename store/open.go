package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

//go:embed migrations/*.sql
var embedded embed.FS

// schema returns the migrations.
func schema() (fs.FS, error) { return fs.Sub(embedded, "migrations") }

// Options are what Open needs besides the path.
type Options struct {
	Now func() time.Time // required
	// Redact removes secrets from reasons and errors before they are stored; nil removes none.
	Redact func(string) string
	// RunTwice makes Update run each function twice and commit only the second run. Tests set it,
	// to find functions whose second run differs: they append to, count in or read an outer value
	// that the first run changed.
	RunTwice bool
	// ClaimedOnly makes it an error to move a turn, a run, an action or a merge without a Claim. Tests
	// of whole passes set it.
	ClaimedOnly bool
}

// Open opens the state database for reading and writing, creates it if it is missing and migrates
// its schema. The caller must hold tick.lock.
func Open(ctx context.Context, path string, opt Options) (*DB, error) {
	migrations, err := schema()
	if err != nil {
		return nil, fmt.Errorf("open the state database: %w", err)
	}
	return open(ctx, path, opt, migrations)
}

func open(ctx context.Context, path string, opt Options, migrations fs.FS) (*DB, error) {
	if opt.Now == nil {
		return nil, errors.New("open the state database: no clock")
	}
	file, err := openFile(ctx, path, migrations)
	if err != nil {
		return nil, err
	}
	return &DB{File: file, now: opt.Now, redact: opt.Redact, writer: make(chan struct{}, 1), runTwice: opt.RunTwice, claimed: opt.ClaimedOnly}, nil
}

// OpenReadOnly opens an existing state database for reading. It returns false if there is none, and
// creates none.
func OpenReadOnly(ctx context.Context, path string) (*DB, bool, error) {
	migrations, err := schema()
	if err != nil {
		return nil, false, fmt.Errorf("open the state database: %w", err)
	}
	return openReadOnly(ctx, path, migrations)
}

func openReadOnly(ctx context.Context, path string, migrations fs.FS) (*DB, bool, error) {
	file, ok, err := openFileReadOnly(ctx, path, migrations)
	if err != nil || !ok {
		return nil, false, err
	}
	return &DB{File: file, readOnly: true}, true, nil
}

// Check has SQLite check the whole file: its structure, and that no row refers to a missing one.
func (d *DB) Check(ctx context.Context) error {
	return d.View(ctx, func(tx *Tx) error {
		found, err := listRows(ctx, tx, "check integrity", scanString, `PRAGMA integrity_check`)
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0] != "ok" {
			return &DamagedError{Path: d.Path, Words: fmt.Sprintf("%q", found)}
		}
		orphans, err := listRows(ctx, tx, "check references", scanString, `SELECT "table" || ' row ' || coalesce(rowid, '?') || ' without its ' || parent FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		if len(orphans) > 0 {
			return &DamagedError{Path: d.Path, Words: fmt.Sprintf("%q", orphans)}
		}
		return nil
	})
}
