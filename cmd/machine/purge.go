package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// stateNames are name patterns of the files in a state folder, in the order of deletion.
// paused.json and the locks go last: a pass that starts during the purge finds everything paused.
var stateNames = []string{
	"checkouts", "homes", "setups", "repos", "agents", "logs", "report.html", ".new-*", probeName, "state.db", "state.db-*", "merging-stopped-*.json", "state.db.damaged*", "passes.json*", "paused-*.tmp", "paused.told", "waits.told", "fleet.json", "installation", "accounts.json", "machine", "paused.json", "pass-*.lock", "passes.lock", "locks",
}

// Purgeable returns an error if a state folder must not be deleted: it does not look like ours, or
// it holds files that people keep there. A missing folder is fine.
func Purgeable(dir, home string, kept ...string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return fmt.Errorf("look at the state folder: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("the state folder %q is a symbolic link, and its target is not deleted: check the target, and delete it yourself", dir)
	case !info.IsDir():
		return fmt.Errorf("%q is no folder", dir)
	}
	for _, path := range append(kept, home, string(filepath.Separator)) {
		if path != "" && (within(path, dir) || within(files.Resolve(path), files.Resolve(dir))) {
			return fmt.Errorf("the state folder %q contains %q, which is not state: nothing was deleted", dir, path)
		}
	}
	if err := GuardState(dir); err != nil {
		return err
	}
	return knownState(dir)
}

// knownState rejects a folder with unknown files, or one that no pass ever used.
func knownState(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the state folder: %w", err)
	}
	used := len(entries) == 0
	for _, e := range entries {
		if orderOf(e.Name()) < 0 {
			return fmt.Errorf("%q in the state folder is not ours: move it away, and nothing was deleted", filepath.Join(dir, e.Name()))
		}
		used = used || e.Name() == "state.db" || e.Name() == "locks" // the locks go last
	}
	if !used {
		return fmt.Errorf("no pass has used %q: if it is a state folder, delete it yourself; nothing was deleted", dir)
	}
	return nil
}

// orderOf returns the position of an entry in the order of deletion; negative if it is unknown.
func orderOf(name string) int {
	return slices.IndexFunc(stateNames, func(pattern string) bool {
		ok, err := filepath.Match(pattern, name)
		return ok && err == nil
	})
}

// Purge deletes a state folder that is Purgeable. It follows no links. If it was interrupted, run
// it again.
func Purge(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the state folder: %w", err)
	}
	sorted.By(entries, func(a, b fs.DirEntry) int { return orderOf(a.Name()) - orderOf(b.Name()) })
	for _, e := range entries {
		if err := files.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil {
		return fmt.Errorf("delete the state folder: %w", err)
	}
	return nil
}
