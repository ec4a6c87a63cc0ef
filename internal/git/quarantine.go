package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// quarantine is a private folder for new objects. It is inside the mirror, so that objects can be
// renamed into it.
type quarantine struct {
	mirror  *Mirror
	Dir     string
	objects string
	Env     []string // variables that make git write there
	reader  *objectReader
}

// inQuarantine runs do and, if it succeeds, moves the new objects into the mirror. No two calls may
// use a name at the same time; leftovers of an earlier call are removed.
func (m *Mirror) inQuarantine(ctx context.Context, name string, do func(q *quarantine) error) error {
	return m.withScratch(name, func(q *quarantine) error {
		if err := do(q); err != nil {
			return err
		}
		q.reader.Close() // no file may be open while it is moved
		return m.locked(ctx, q.adopt)
	})
}

// withScratch runs do with a quarantine and discards its objects. name is as in inQuarantine.
func (m *Mirror) withScratch(name string, do func(q *quarantine) error) error {
	sum := sha256.Sum256([]byte(name))
	q := &quarantine{mirror: m, Dir: m.path("quarantine", hex.EncodeToString(sum[:8]))}
	q.objects = filepath.Join(q.Dir, "objects")
	if err := files.Remove(q.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(q.objects, "pack"), 0o700); err != nil {
		return fmt.Errorf("make quarantine: %w", err)
	}
	defer func() { _ = files.Remove(q.Dir) }()
	q.Env = []string{
		"GIT_OBJECT_DIRECTORY=" + q.objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(m.path("objects")),
	}
	q.reader = newObjectReader(q.command())
	defer q.reader.Close()
	return do(q)
}

// command returns a git command that also sees the objects in quarantine and writes new ones there.
func (q *quarantine) command(args ...string) command {
	c := q.mirror.command(args...)
	c.Objects = q.Env
	return c
}

// quoteAlternate quotes a path for a list in which a separator would end it.
func quoteAlternate(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// adopt syncs the objects, moves them into the mirror file by file, a pack's index last, and syncs
// the folders.
func (q *quarantine) adopt() error {
	var objects []string
	err := filepath.WalkDir(q.objects, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "tmp_") {
			return err
		}
		objects = append(objects, path)
		return nil
	})
	if err != nil {
		return fmt.Errorf("adopt objects: %w", err)
	}
	if err := files.SyncAll(objects); err != nil {
		return fmt.Errorf("adopt objects: %w", err)
	}
	sort.SliceStable(objects, func(i, j int) bool { return !isPackIndex(objects[i]) && isPackIndex(objects[j]) })
	touched := map[string]bool{q.mirror.path("objects"): true}
	for _, from := range objects {
		rel, err := filepath.Rel(q.objects, from)
		if err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
		to := q.mirror.path("objects", rel)
		if files.Exists(to) {
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
		if err := files.SyncFolder(dir); err != nil {
			return fmt.Errorf("adopt objects: %w", err)
		}
	}
	return nil
}

func isPackIndex(path string) bool { return filepath.Ext(path) == ".idx" }
