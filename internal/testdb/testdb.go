// Package testdb makes state databases for tests. Only tests import it.
package testdb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/store"
)

// empty is a database with the schema and no rows. It is copied for each test, because creating the
// schema takes longer than most tests.
var empty = testhome.Template{Make: func(ctx context.Context, path string) error {
	db, err := store.Open(ctx, path, store.Options{Now: func() time.Time { return time.Time{} }}) // nothing in it has a time
	if err != nil {
		return err
	}
	return db.Close()
}}

// Open opens the database at a path, which is empty where there was none. It is the
// caller's to close. It runs each function given to Update twice: one that a retry would change
// fails its test.
func Open(t testing.TB, path string, now func() time.Time) *store.DB {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		empty.Put(t, path)
	}
	db, err := store.Open(t.Context(), path, store.Options{Now: now, RunTwice: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
