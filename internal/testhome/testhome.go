// Package testhome gives a test a folder where people's homes are: outside every
// temporary folder. What stands around an agent treats temporary folders in its
// own way, so a test that plays in one of them does not see what users see.
//
// The folder is a real one below the user's cache folder, and no tmpfs in a
// mount namespace of the test's own: without root that takes a user namespace,
// in which the test would be root and other code would run than for users; and
// an installed program of hundreds of megabytes can be linked into a folder of
// the same disk at no cost.
//
// Only tests import it.
package testhome

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// New makes a folder outside every temporary one. It is gone when the test
// ends, and also when the test's process is killed. Where there is no place for
// one, the test is skipped with the reason.
func New(t testing.TB) string {
	t.Helper()
	dir, why := Try(t)
	if why != nil {
		t.Skip("no folder outside the temporary ones: ", why)
	}
	return dir
}

// Try is New for a test that can do without such a folder.
func Try(t testing.TB) (string, error) {
	t.Helper()
	var errs []error
	for _, parent := range parents() {
		dir, err := In(t, parent)
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

// parents are the places for such folders, the best one first. What a sandbox
// lets in, such as /opt, is none.
func parents() []string {
	if cache, err := os.UserCacheDir(); err == nil {
		return []string{filepath.Join(cache, "gh-mergexo", "tests"), "/var/lib"}
	}
	return []string{"/var/lib"}
}

// In makes such a folder below another one, which is made where it is missing.
func In(t testing.TB, parent string) (string, error) {
	t.Helper()
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return "", err
	}
	for _, temp := range temporary() {
		if within(real, temp) {
			return "", fmt.Errorf("%s lies in the temporary folder %s", parent, temp)
		}
	}
	dir, err := os.MkdirTemp(real, "mergexo-")
	if err != nil {
		return "", err
	}
	remove, err := remover(dir)
	if err != nil {
		return "", errors.Join(fmt.Errorf("start what removes %s: %w", dir, err), os.Remove(dir))
	}
	t.Cleanup(remove)
	return dir, nil
}

// temporary lists the temporary folders, as they are really called.
func temporary() []string {
	var all []string
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm", os.TempDir()} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			all = append(all, real)
		}
	}
	return all
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
