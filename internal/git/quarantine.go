package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// quarantine is a folder for new objects that nobody else sees. It lies in the
// mirror, so that objects move into it by rename.
type quarantine struct {
	mirror  *Mirror
	dir     string
	objects string
	env     []string // for git
}

// inQuarantine runs do and, when it succeeds, moves the new objects into the
// mirror. The name must be used by one at a time; what an earlier user left
// is removed.
func (m *Mirror) inQuarantine(ctx context.Context, name string, do func(q *quarantine) error) error {
	sum := sha256.Sum256([]byte(name))
	q := &quarantine{mirror: m, dir: m.path("quarantine", hex.EncodeToString(sum[:8]))}
	q.objects = filepath.Join(q.dir, "objects")
	if err := removeTree(q.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(q.objects, "pack"), 0o700); err != nil {
		return fmt.Errorf("make quarantine: %w", err)
	}
	defer func() { _ = removeTree(q.dir) }()
	q.env = []string{
		"GIT_OBJECT_DIRECTORY=" + q.objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(m.path("objects")),
	}
	if err := do(q); err != nil {
		return err
	}
	return m.locked(ctx, func() error { return m.adopt(q) })
}

// call is a command about the mirror with what is in quarantine. What it makes
// goes there.
func (q *quarantine) call(args ...string) plumbing.Call {
	c := q.mirror.call(args...)
	c.Objects = q.env
	return c
}

// quoteAlternate quotes a path for a list in which a separator would end it.
func quoteAlternate(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// adopt makes the objects durable, moves them into the mirror, file by file, a
// pack's index last, and makes their names durable.
func (m *Mirror) adopt(q *quarantine) error {
	var files []string
	err := filepath.WalkDir(q.objects, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "tmp_") {
			return err
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		return fmt.Errorf("adopt objects: %w", err)
	}
	if err := syncAll(files); err != nil {
		return fmt.Errorf("adopt objects: %w", err)
	}
	sort.SliceStable(files, func(i, j int) bool { return !isPackIndex(files[i]) && isPackIndex(files[j]) })
	touched := map[string]bool{m.path("objects"): true}
	for _, from := range files {
		rel, err := filepath.Rel(q.objects, from)
		if err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
		to := m.path("objects", rel)
		if exists(to) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
		if err := os.Rename(from, to); err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
		touched[filepath.Dir(to)] = true
	}
	for dir := range touched {
		if err := SyncFolder(dir); err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
	}
	return nil
}

// syncAll makes files durable, many at once: a file system commits them
// together, where one after the other each waits for the disk.
func syncAll(files []string) error {
	const atOnce = 16
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for n := range atOnce {
		wg.Go(func() {
			for i := n; i < len(files) && errs[n] == nil; i += atOnce {
				errs[n] = syncFile(files[i])
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// syncFile opens for reading: objects are read-only. Windows, which wants
// leave to write for this, is served by git (see package plumbing).
func syncFile(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func isPackIndex(path string) bool { return filepath.Ext(path) == ".idx" }
