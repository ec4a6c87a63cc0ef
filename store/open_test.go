package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestOpenMakesThenKeeps(t *testing.T) {
	path := newPath(t)
	d, err := Open(t.Context(), path, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	r := addRepo(t, d)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v: others can read it", info.Mode())
	}
	again := openAt(t, path)
	equal(t, inTx(t, again, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }), []work.Repo{r})
	if _, err := Open(t.Context(), path, Options{}); err == nil {
		t.Error("opened without a clock")
	}
}

// A pragma that reaches one connection of the pool only would show here.
func TestEveryConnectionIsDurable(t *testing.T) {
	d := newFile(t)
	want := map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "10000"}
	for i := range 6 {
		conn, err := d.SQL.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for pragma, value := range want {
			var got string
			if err := conn.QueryRowContext(t.Context(), `PRAGMA `+pragma).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != value {
				t.Errorf("connection %d: %s is %s, want %s", i, pragma, got, value)
			}
		}
	}
}

func TestLeftoversOfADeletedDatabase(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	addRepo(t, d)
	dir := t.TempDir()
	orphan := filepath.Join(dir, "state.db")
	copyFile(t, path+"-wal", orphan+"-wal")
	copyFile(t, path+"-shm", orphan+"-shm")

	if _, ok, err := OpenReadOnly(t.Context(), orphan); ok || err != nil {
		t.Errorf("a reader got %v, %v of a missing database", ok, err)
	}
	if _, err := os.Stat(orphan); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reader made the database: %v", err)
	}
	fresh := openAt(t, orphan)
	if got := inTx(t, fresh, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(got) != 0 {
		t.Errorf("the deleted database came back: %v", got)
	}
}

func TestReplacedWhileInUse(t *testing.T) {
	path := newPath(t)
	d := openAt(t, path)
	addRepo(t, d)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantErr(t, d, errReplaced, func(*Tx) error { return nil })
	next := openAt(t, path)
	wantErr(t, d, errReplaced, func(*Tx) error { return nil })
	addRepo(t, next)
	if err := d.SQL.Close(); err != nil { // the old one ends while the new one is in use
		t.Fatal(err)
	}
	if err := next.Check(t.Context()); err != nil {
		t.Error(err)
	}
	other := openAt(t, path)
	if got := inTx(t, other, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(got) != 1 {
		t.Errorf("%d repositories after the old handle's end, want 1", len(got))
	}
}

func TestStateFolderCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(file, "state.db"), Options{Now: clock}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("below a file: %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root can write to a read-only folder")
	}
	path := newPath(t)
	if err := openAt(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
	if _, err := Open(t.Context(), path, Options{Now: clock}); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("in a read-only folder: %v", err)
	}
}

func TestNotADatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{Now: clock})
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("opened: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Only making the file needs tick.lock: its tables can be made by any of
// several that are too early.
func TestTwentyOpenersOfAnEmptyFile(t *testing.T) {
	testhome.NotShort(t)
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d, err := Open(t.Context(), path, Options{Now: clock})
			if err != nil {
				t.Error(err)
				return
			}
			if err := d.Update(t.Context(), func(tx *Tx) error {
				_, err := tx.EnsureRepo(t.Context(), name)
				return err
			}); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	d := openAt(t, path)
	if got := inTx(t, d, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(t.Context()) }); len(got) != 1 {
		t.Errorf("repositories %v, want one", got)
	}
}

func TestOpenIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, newPath(t), Options{Now: clock}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
}

func BenchmarkOpen(b *testing.B) {
	path := newPath(b)
	d := openAt(b, path)
	addRepo(b, d)
	if err := d.Close(); err != nil { // so that each round is the file's only user
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		work func(*DB) error
	}{
		{"only", func(*DB) error { return nil }},
		{"heartbeat", func(d *DB) error {
			return d.Update(b.Context(), func(tx *Tx) error { return tx.Heartbeat(b.Context(), 1, t0) })
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				d, err := Open(b.Context(), path, Options{Now: clock})
				if err == nil {
					err = errors.Join(c.work(d), d.Close())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("create", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			d, err := Open(b.Context(), filepath.Join(b.TempDir(), fmt.Sprint(i), "state.db"), Options{Now: clock})
			if err != nil {
				b.Fatal(err)
			}
			d.Close()
		}
	})
}
