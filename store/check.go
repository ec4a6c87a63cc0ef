package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/store/rows"
)

// Check has SQLite examine the whole file: its structure, and that no row
// refers to one that is missing.
func (d *DB) Check(ctx context.Context) error {
	return d.View(ctx, func(tx *Tx) error {
		found, err := rows.List(ctx, tx.tx, "check integrity", rows.ScanString, `PRAGMA integrity_check`)
		if err != nil {
			return err
		}
		if len(found) != 1 || found[0] != "ok" {
			return fmt.Errorf("%s is damaged: %q", d.Path, found)
		}
		orphans, err := rows.List(ctx, tx.tx, "check references", rows.ScanString, `SELECT "table" || ' row ' || rowid || ' without its ' || parent FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		if len(orphans) > 0 {
			return fmt.Errorf("%s is damaged: %q", d.Path, orphans)
		}
		return nil
	})
}
