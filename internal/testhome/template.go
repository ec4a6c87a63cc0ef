package testhome

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Template is a file that takes long to make: each process makes it once, and
// copies it from then on.
type Template struct {
	Make func(ctx context.Context, path string) error

	once    sync.Once
	content []byte
	err     error
}

// Put puts a copy where nothing is yet.
func (f *Template) Put(t testing.TB, path string) {
	t.Helper()
	f.once.Do(func() {
		dir := t.TempDir()
		if f.err = f.Make(t.Context(), filepath.Join(dir, "file")); f.err == nil {
			f.content, f.err = os.ReadFile(filepath.Join(dir, "file"))
		}
	})
	if f.err != nil {
		t.Fatal(f.err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f.content, 0o600); err != nil {
		t.Fatal(err)
	}
}
