// Package testpg gives tests databases of their own on a PostgreSQL server. Only tests import it.
package testpg

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Variable has the URL of a server for tests, as script/postgres sets it. The user may create databases.
const Variable = "GH_MERGEXO_TEST_POSTGRES"

// Set reports whether there is a server for tests.
func Set() bool { return os.Getenv(Variable) != "" }

// Template is a database that takes long to make: each process makes it once, and copies it from
// then on.
type Template struct {
	Make func(ctx context.Context, url string) error

	once sync.Once
	name string
	err  error
}

// Copy returns the URL of a new copy, which is dropped after the test. Without a server it skips the
// test and says why.
func (f *Template) Copy(t testing.TB) string {
	t.Helper()
	if !Set() {
		t.Skipf("no PostgreSQL: run the tests by script/postgres, which sets %s", Variable)
	}
	f.once.Do(func() {
		f.name, f.err = create(t.Context(), "template0")
		if f.err == nil {
			f.err = f.Make(t.Context(), urlOf(f.name))
		}
	})
	if f.err != nil {
		t.Fatal(f.err)
	}
	name, err := create(t.Context(), f.name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run(context.WithoutCancel(t.Context()), `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
			t.Error(err)
		}
	})
	return urlOf(name)
}

// create creates a database as a copy of another one.
func create(ctx context.Context, from string) (string, error) {
	name := "test_" + strings.ToLower(rand.Text())
	return name, run(ctx, `CREATE DATABASE `+name+` TEMPLATE `+from)
}

// urlOf returns the URL of a database on the server for tests.
func urlOf(database string) string {
	u, err := url.Parse(os.Getenv(Variable))
	if err != nil {
		panic(err) // run has parsed it
	}
	u.Path = "/" + database
	return u.String()
}

// run runs one statement in the server's own database.
func run(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, os.Getenv(Variable))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
