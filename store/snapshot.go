package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Snapshot writes a copy of the database to dst, which must not exist. It
// reads through a connection of its own that cannot write.
func (d *DB) Snapshot(ctx context.Context, dst string) error {
	source, err := connectReadOnly(ctx, d.path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", d.path, err)
	}
	err = snapshot(ctx, source, dst)
	return errors.Join(err, source.Close())
}

func snapshot(ctx context.Context, source *DB, dst string) error {
	f, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // VACUUM INTO fills an empty file
	if err != nil {
		return fmt.Errorf("copy %s: %w", source.path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy %s: %w", source.path, err)
	}
	if _, err := source.sql.ExecContext(ctx, `VACUUM INTO ?`, dst); err != nil {
		return fmt.Errorf("copy %s to %s: %w", source.path, dst, interrupted(ctx, err))
	}
	return nil
}

// Check has SQLite examine the whole file: its structure, and that no row
// refers to one that is missing.
func (d *DB) Check(ctx context.Context) error {
	return d.View(ctx, func(tx *Tx) error {
		found, err := list(ctx, tx, "check integrity", scanString, `PRAGMA integrity_check`)
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0] != "ok" {
			return fmt.Errorf("%s is damaged: %q", d.path, found)
		}
		orphans, err := list(ctx, tx, "check references", scanString, `SELECT "table" || ' row ' || rowid || ' without its ' || parent FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		if len(orphans) > 0 {
			return fmt.Errorf("%s is damaged: %q", d.path, orphans)
		}
		return nil
	})
}
