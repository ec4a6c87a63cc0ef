package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A damaged file gives an error with the command to type, for each kind of damage, and after that
// command a new file is made. An empty file counts as new.
func TestDamagedFiles(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "state.db")
	d := openAt(t, whole)
	r := addRepo(t, d)
	for i := range 300 {
		update(t, d, func(tx *Tx) error {
			_, err := tx.exec(t.Context(), "fill", `INSERT INTO history (repo_id, number, at, what, detail) VALUES (?, 1, ?, 'note', ?)`, r.ID, i, strings.Repeat("x", 500))
			return err
		})
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	noise := bytes.Repeat([]byte("garbage!"), 512)
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		beside string
		empty  bool
	}{
		"header":            {func(b []byte) []byte { copy(b, noise[:64]); return b }, "", false},
		"first page":        {func(b []byte) []byte { copy(b, noise); return b }, "", false},
		"second page":       {func(b []byte) []byte { copy(b[4096:], noise); return b }, "", false},
		"middle page":       {func(b []byte) []byte { copy(b[len(b)/2/4096*4096:], noise); return b }, "", false},
		"truncated":         {func(b []byte) []byte { return b[:len(b)/2] }, "", false},
		"cut within a page": {func(b []byte) []byte { return b[:5000] }, "", false},
		"another file":      {func([]byte) []byte { return []byte("Dear Ann, this is no database at all.") }, "-wal", false},
		"zero bytes":        {func([]byte) []byte { return nil }, "", true},
		"zeros":             {func(b []byte) []byte { return make([]byte, len(b)) }, "-shm", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			if err := os.WriteFile(path, c.damage(bytes.Clone(good)), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.beside != "" {
				if err := os.WriteFile(path+c.beside, []byte("left"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for who, read := range map[string]func() error{
				"a reader": func() error { return readWhole(OpenReadOnly(t.Context(), path)) },
				"a pass": func() error {
					d, err := Open(t.Context(), path, Options{Now: time.Now})
					err = readWhole(d, d != nil, err)
					if d != nil && err != nil && d.Damage() == nil {
						t.Error("the database forgot it")
					}
					return err
				},
			} {
				err := read()
				damaged, ok := errors.AsType[*DamagedError](err)
				if ok == c.empty {
					t.Errorf("%s: %v", who, err)
				}
				if !ok {
					continue
				}
				do := damaged.MoveAway()
				if !strings.HasPrefix(do, fmt.Sprintf("mv %q ", path)) || !strings.HasSuffix(do, " && gh mergexo tick") {
					t.Errorf("%s: %s", who, do)
				}
			}
			if c.empty {
				return
			}
			do := (&DamagedError{Path: path}).MoveAway()
			if out, err := exec.Command("sh", "-c", strings.TrimSuffix(do, " && gh mergexo tick")).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", do, err, out)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s stays: %v", path, err)
			}
			if err := openWhole(t, path); err != nil {
				t.Errorf("the new one: %v", err)
			}
		})
	}
}

func openWhole(t *testing.T, path string) error {
	d, err := Open(t.Context(), path, Options{Now: time.Now})
	return readWhole(d, d != nil, err)
}

// readWhole reads, checks and closes a database that was opened.
func readWhole(d *DB, there bool, err error) error {
	if err != nil || !there {
		return err
	}
	ctx := context.Background()
	err = d.View(ctx, func(tx *Tx) error {
		_, err := listRows(ctx, tx, "read all", scanString, `SELECT detail FROM history`)
		return err
	})
	return errors.Join(err, d.Check(ctx), d.Close())
}
