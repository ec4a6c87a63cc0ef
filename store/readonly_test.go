package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestOpenReadOnly(t *testing.T) {
	path := newPath(t)
	if _, ok, err := OpenReadOnly(t.Context(), path); ok || err != nil {
		t.Fatalf("no database: %v, %v", ok, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a reader made the state folder: %v", err)
	}
	d := openAt(t, path)
	r := addRepo(t, d)
	reader, ok, err := OpenReadOnly(t.Context(), path)
	if err != nil || !ok {
		t.Fatalf("beside a writer: %v, %v", ok, err)
	}
	defer reader.Close()
	addItem(t, d, work.Item{RepoID: r.ID, Number: 7})
	err = reader.View(t.Context(), func(tx *Tx) error {
		items, err := tx.ListItems(t.Context(), r.ID)
		equal(t, len(items), 1)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if err := reader.Update(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a reader writes: %v", err)
	}
	if _, err := reader.SQL.ExecContext(t.Context(), `DELETE FROM work_items`); err == nil {
		t.Error("the reader's connection can write")
	}
}

// A first pass that was killed before its first table left an empty file.
func TestOpenReadOnlyOfAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := OpenReadOnly(t.Context(), path); ok || err != nil {
		t.Errorf("an empty file: %v, %v", ok, err)
	}
	addRepo(t, openAt(t, path))
}

func TestSnapshot(t *testing.T) {
	d := newFile(t)
	r := addRepo(t, d)
	before, err := os.Stat(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	dst := filepath.Join(t.TempDir(), "it's a copy.db")
	if err := d.Snapshot(t.Context(), dst); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dst)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the copy's mode is %v, %v", info.Mode(), err)
	}
	throwAway := openAt(t, dst)
	addItem(t, throwAway, work.Item{RepoID: r.ID, Number: 1})
	if err := throwAway.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if got := inTx(t, d, func(tx *Tx) ([]work.Item, error) { return tx.ListItems(t.Context(), r.ID) }); len(got) != 0 {
		t.Errorf("what was written to the copy is in the original: %v", got)
	}
	if after, err := os.Stat(d.Path); err != nil || after.ModTime() != before.ModTime() || after.Size() != before.Size() {
		t.Errorf("the copying changed the original: %v", err)
	}
	if err := d.Snapshot(t.Context(), dst); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing file: %v", err)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	d := openAt(t, newPath(t))
	r := addRepo(t, d)
	addItem(t, d, work.Item{RepoID: r.ID, Number: 1})
	if err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn, err := d.SQL.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`PRAGMA foreign_keys = 0`, `DELETE FROM repositories`, `PRAGMA foreign_keys = 1`} {
		if _, err := conn.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "work_items row 1 without its repositories") {
		t.Errorf("an item without its repository: %v", err)
	}
}
