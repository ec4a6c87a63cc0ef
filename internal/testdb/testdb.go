// Package testdb makes state databases for tests. Only tests import it.
package testdb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// file and server are a database with the schema and no rows, on each engine. They are copied for each
// test, because creating the schema takes longer than most tests.
var (
	file   = testhome.Template{Make: create}
	server = testpg.Template{Make: create}
)

func create(ctx context.Context, at string) error {
	db, err := store.Open(ctx, at, store.Options{Now: func() time.Time { return time.Time{} }}) // nothing in it has a time
	if err != nil {
		return err
	}
	return db.Close()
}

// Postgres returns the URL of a new database on PostgreSQL that has the schema and no rows. Without a
// server it skips the test and says why, see testpg.Variable.
func Postgres(t testing.TB) string {
	t.Helper()
	return server.Copy(t)
}

// Open opens the database at a path, which is empty where there was none. It is the caller's to close.
// Where there is a server for tests, the database is on it, and the path is only its name. Open makes
// Update run each function twice: one that a retry would change fails its test.
func Open(t testing.TB, path string, now func() time.Time) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), At(t, path), store.Options{Now: now, RunTwice: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// urls are the databases on the server by their names.
var urls sync.Map

// At returns where the database of a path is: a file, which is made if it is missing, or the URL of a
// database on the server for tests.
func At(t testing.TB, path string) string {
	t.Helper()
	if testpg.Set() {
		url, known := urls.Load(path)
		if !known {
			url = Postgres(t)
			urls.Store(path, url)
		}
		return url.(string)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		file.Put(t, path)
	}
	return path
}

// Repo returns the row of a repository, and creates it if there is none.
func Repo(ctx context.Context, tx *store.Tx, name work.RepoName) (work.Repo, error) {
	all, err := tx.OpenRepos(ctx, []work.RepoName{name})
	if err != nil {
		return work.Repo{}, err
	}
	return all[0], nil
}
