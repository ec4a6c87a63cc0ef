package store

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// versions are the schema versions of a database and of the migrations.
type versions struct {
	have  int64 // the database's; 0: it has no schema yet
	first int64 // the oldest that can be migrated
	last  int64 // the newest migration
}

// versions reads the schema's version with one small read, so that goose is started only if a
// migration is needed.
func (d *File) versions(ctx context.Context, migrations fs.FS) (v versions, err error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return versions{}, err
	}
	if v.first, err = versionOf(slices.Min(names)); err != nil {
		return versions{}, err
	}
	if v.last, err = versionOf(slices.Max(names)); err != nil {
		return versions{}, err
	}
	var tables int
	row := d.SQL.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'goose_db_version'`)
	if err := row.Scan(&tables); err != nil || tables == 0 {
		return v, interrupted(ctx, err)
	}
	row = d.SQL.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied = 1`)
	return v, interrupted(ctx, row.Scan(&v.have))
}

func versionOf(migration string) (int64, error) {
	digits, _, _ := strings.Cut(migration, "_")
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the migrations' names: %w", err)
	}
	return v, nil
}

// checkMigratable refuses a database that cannot be migrated.
func (d *File) checkMigratable(v versions) error {
	switch {
	case v.have > v.last:
		return fmt.Errorf("%s was %w (schema %d, this program knows %d): gh extension upgrade mergexo", d.Path, errNewer, v.have, v.last)
	case v.have != 0 && v.have < v.first:
		return fmt.Errorf("%s was %w (schema %d, the oldest that this program reads is %d): move the file away; the next pass creates a new one from GitHub",
			d.Path, errTooOld, v.have, v.first)
	}
	return nil
}

// migrate migrates the schema. If two programs try at the same time, one fails a migration and
// reads the version again.
func (d *File) migrate(ctx context.Context, migrations fs.FS) error {
	tried := int64(-1)
	for {
		v, err := d.versions(ctx, migrations)
		if err == nil {
			err = d.checkMigratable(v)
		}
		if err != nil || v.have == v.last {
			return err
		}
		err = d.up(ctx, migrations)
		if err != nil && v.have == tried {
			return fmt.Errorf("migrate from schema %d to %d: %w", v.have, v.last, interrupted(ctx, err))
		}
		tried = v.have
	}
}

func (d *File) up(ctx context.Context, migrations fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, d.SQL, migrations,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx) // not closed, because that would close the pool
	return err
}
