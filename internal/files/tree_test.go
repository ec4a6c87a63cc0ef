//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tree makes files: "-> x" is a link to x, "|" a pipe.
func tree(t *testing.T, root string, all map[string]string) string {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path, text := filepath.Join(root, name), all[name]
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if to, link := strings.CutPrefix(text, "-> "); err == nil && link {
			err = os.Symlink(to, path)
		} else if err == nil && text == "|" {
			err = syscall.Mkfifo(path, 0o600)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// contents reads a folder back as tree takes it, without empty folders.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil || d.IsDir():
		case d.Type()&fs.ModeSymlink != 0:
			var to string
			to, err = os.Readlink(path)
			all[name] = "-> " + to
		case d.Type().IsRegular():
			var b []byte
			b, err = os.ReadFile(path)
			all[name] = string(b)
		default:
			all[name] = "|"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// However the two folders look, what is copied stays in the folder that it is copied to, and nothing
// else changes.
func TestCopyTree(t *testing.T) {
	outside := tree(t, t.TempDir(), map[string]string{"secret": "s"})
	for name, c := range map[string]struct {
		from, to, want map[string]string
		paths          []string
		fails          string
	}{
		"all kinds": {
			from: map[string]string{"m/a": "a", "m/b/c": "c", "m/pipe": "|", "m/out": "-> " + outside, "m/skip/x": "x", "n": "n"},
			want: map[string]string{"m/a": "a", "m/b/c": "c", "m/out": "-> " + outside}, paths: []string{"m"},
		},
		"it replaces":        {from: map[string]string{"m/a": "a"}, to: map[string]string{"m/old": "o", "k": "k"}, want: map[string]string{"m/a": "a", "k": "k"}, paths: []string{"m"}},
		"a link there":       {from: map[string]string{"m/secret": "a"}, to: map[string]string{"m": "-> " + outside}, want: map[string]string{"m/secret": "a"}, paths: []string{"m"}},
		"a link on the way":  {from: map[string]string{"m/secret": "a", "n": "n"}, to: map[string]string{"m": "-> " + outside}, want: map[string]string{"m": "-> " + outside, "n": "n"}, paths: []string{"m/secret", "n"}},
		"a file on the way":  {from: map[string]string{"m/a": "a", "n": "n"}, to: map[string]string{"m": "m"}, want: map[string]string{"m": "m", "n": "n"}, paths: []string{"m/a", "n"}},
		"from behind a link": {from: map[string]string{"m": "-> " + outside}, paths: []string{"m/secret"}, fails: "escapes"},
		"upwards":            {from: map[string]string{"m": "m"}, paths: []string{"../m"}, want: map[string]string{}},
		"too much":           {from: map[string]string{"m/a": strings.Repeat("a", 2000)}, paths: []string{"m"}, fails: "more than 1000 bytes"},
		"too deep":           {from: map[string]string{strings.Repeat("m/", 150) + "x": "x"}, paths: []string{"m"}, fails: "deep"},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := tree(t, t.TempDir(), c.from), tree(t, t.TempDir(), c.to)
			_, err := CopyTree(from, to, c.paths, 1000, func(path string) bool { return filepath.Base(path) == "skip" })
			if (err != nil) != (c.fails != "") || !strings.Contains(fmt.Sprint(err), c.fails) {
				t.Fatalf("%v, want %q", err, c.fails)
			}
			if got := contents(t, to); c.fails == "" && !maps.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := contents(t, outside); len(got) != 1 || got["secret"] != "s" {
				t.Errorf("outside: %q", got)
			}
		})
	}
}

// A sparse file takes no room, its copy would. Permissions and times are kept, hard links become files.
func TestCopyTreeKeepsAttributes(t *testing.T) {
	from, to := tree(t, t.TempDir(), map[string]string{"m/d/run": "x", "sparse": ""}), t.TempDir()
	at := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, err := range []error{
		os.Truncate(filepath.Join(from, "sparse"), 1<<40), os.Link(filepath.Join(from, "m/d/run"), filepath.Join(from, "m/same")),
		os.Chmod(filepath.Join(from, "m/d/run"), 0o555), os.Chtimes(filepath.Join(from, "m/d/run"), at, at), os.Chtimes(filepath.Join(from, "m/d"), at, at), os.Chmod(filepath.Join(from, "m/d"), 0o555),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = os.Chmod(filepath.Join(from, "m/d"), 0o700), os.Chmod(filepath.Join(to, "m/d"), 0o700) })
	skip := func(string) bool { return false }
	if _, err := CopyTree(from, to, []string{"sparse"}, 1<<20, skip); err == nil {
		t.Error("a sparse file of 1 TiB was copied")
	}
	if n, err := CopyTree(from, to, []string{"m"}, 0, skip); err != nil || n != 2 {
		t.Fatal(n, err)
	}
	for name, mode := range map[string]fs.FileMode{"m/d": 0o555 | fs.ModeDir, "m/d/run": 0o555} {
		info, err := os.Lstat(filepath.Join(to, name))
		if err != nil || info.Mode() != mode || !info.ModTime().Equal(at) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "m/same")); err != nil || info.Sys().(*syscall.Stat_t).Nlink != 1 {
		t.Errorf("a shared file: %v", err)
	}
}

// The sum of a folder is the one of its copy, and each difference that a power loss may leave changes it.
func TestSumTree(t *testing.T) {
	all := map[string]string{"d/a": "one", "d/b": "two", "d/link": "-> a", "e": "", "f/g": "three"}
	from := tree(t, t.TempDir(), all)
	sum := func(dir string) string {
		t.Helper()
		s, err := SumTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	copied := func() string {
		t.Helper()
		to := t.TempDir()
		if _, err := CopyTree(from, to, []string{"d", "e", "f"}, 0, func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		if sum(to) != sum(from) {
			t.Fatal("a copy has another sum")
		}
		return to
	}
	for name, damage := range map[string]func(dir string) error{
		"an empty file":       func(dir string) error { return os.Truncate(filepath.Join(dir, "d/a"), 0) },
		"zeros":               func(dir string) error { return os.WriteFile(filepath.Join(dir, "d/a"), []byte("\x00\x00\x00"), 0o600) },
		"a file that is gone": func(dir string) error { return os.Remove(filepath.Join(dir, "e")) },
		"a link elsewhere": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "d/link")), os.Symlink("b", filepath.Join(dir, "d/link")))
		},
		"a file in place of a link": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "d/link")), os.WriteFile(filepath.Join(dir, "d/link"), []byte("a"), 0o600))
		},
		"other permissions":     func(dir string) error { return os.Chmod(filepath.Join(dir, "d/b"), 0o700) },
		"an empty folder":       func(dir string) error { return os.Remove(filepath.Join(dir, "f/g")) },
		"one more":              func(dir string) error { return os.Mkdir(filepath.Join(dir, "h"), 0o700) },
		"contents that changed": func(dir string) error { return os.Rename(filepath.Join(dir, "d/a"), filepath.Join(dir, "d/b")) },
	} {
		to := copied()
		if err := damage(to); err != nil {
			t.Fatal(err)
		}
		if sum(to) == sum(from) {
			t.Errorf("%s: the sum is the same", name)
		}
	}
	if _, err := SumTree(filepath.Join(from, "gone")); err == nil {
		t.Error("a folder that is not there has a sum")
	}
}
