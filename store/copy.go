package store

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// Snapshot writes a copy of the database to dst, which must not exist. It reads through its own
// read-only connection.
func (d *File) Snapshot(ctx context.Context, dst string) error {
	source, err := connectReadOnly(ctx, d.Path)
	if err != nil {
		return fmt.Errorf("copy %s: %w", d.Path, explainFile(d.Path, err))
	}
	err = snapshot(ctx, source, dst)
	return errors.Join(err, source.Close())
}

func snapshot(ctx context.Context, source *File, dst string) error {
	f, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // VACUUM INTO accepts an empty file
	if err != nil {
		return fmt.Errorf("copy %s: %w", source.Path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("copy %s: %w", source.Path, err)
	}
	if _, err := source.SQL.ExecContext(ctx, `VACUUM INTO ?`, dst); err != nil {
		return fmt.Errorf("copy %s to %s: %w", source.Path, dst, explainFile(source.Path, interrupted(ctx, err)))
	}
	return nil
}
