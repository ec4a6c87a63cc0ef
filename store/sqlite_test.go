package store

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"
)

// SQLite does not wait where a wait could be a deadlock, its busy_timeout
// notwithstanding: two first openers want the write lock with a read lock held.
func TestOpenWaitsForTheFirstOpener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, err := connect(t.Context(), path, url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	conn, err := first.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		_, _ = conn.ExecContext(context.WithoutCancel(t.Context()), `ROLLBACK`)
	}()
	d, err := open(t.Context(), path, Options{Now: clock}, fstest.MapFS{"00001_first.sql": {Data: []byte("-- +goose Up\nCREATE TABLE t (id INTEGER);")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
