package files

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	file, device := filepath.Join(dir, "a.prom"), filepath.Join(dir, "device")
	for _, text := range []string{"1\n", "2\n"} {
		if err := Publish(file, text); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skip(err)
	}
	if err := Publish(device, "text"); err == nil {
		t.Error("a device was put away")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left in the folder: %v, %v", all, err)
	}
}

// A file counts as changed by others if they can write to it or replace it, also through a link, and
// not if a sticky folder or a file system without writing keeps them from it.
func TestWhoCouldChangeAFile(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(dir, file string) error
		want   string
	}{
		"ours alone":               {func(_, file string) error { return os.Chmod(file, 0o644) }, ""},
		"everybody":                {func(_, file string) error { return os.Chmod(file, 0o646) }, "file"},
		"the group":                {func(_, file string) error { return os.Chmod(file, 0o660) }, "file"},
		"everybody, in its folder": {func(dir, _ string) error { return os.Chmod(dir, 0o757) }, "dir"},
		"a folder like /tmp":       {func(dir, _ string) error { return os.Chmod(dir, 0o777|os.ModeSticky) }, ""},
		"behind a link": {func(dir, file string) error {
			other := filepath.Join(dir, "other")
			return errors.Join(os.Mkdir(other, 0o700), os.Rename(file, filepath.Join(other, "file")), os.Chmod(other, 0o770), os.Symlink(filepath.Join(other, "file"), file))
		}, "other"},
		"everybody, further above": {func(dir, file string) error {
			other := filepath.Join(dir, "other")
			deep := filepath.Join(other, "deep")
			return errors.Join(os.MkdirAll(deep, 0o700), os.Rename(file, filepath.Join(deep, "file")), os.Chmod(other, 0o707), os.Symlink(filepath.Join(deep, "file"), file))
		}, "other"},
		"another user's": {func(_, file string) error {
			if os.Getuid() != 0 {
				return os.Chmod(file, 0o666)
			}
			return os.Chown(file, 12345, -1)
		}, "file"},
	} {
		dir := filepath.Join(Resolve(t.TempDir()), "dir")
		file := filepath.Join(dir, "file")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, nil, 0o600), tt.change(dir, file)); err != nil {
			t.Fatal(err)
		}
		why := ChangedByOthers(file)
		at, _, _ := strings.Cut(why, " ")
		if tt.want == "" && why != "" || tt.want != "" && filepath.Base(at) != tt.want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// Another user's file is protected where nobody can write, as a config that a container was given.
func TestAReadOnlyMountProtectsAnotherUsersFile(t *testing.T) {
	const variable = "TEST_FILE"
	if file := os.Getenv(variable); file != "" {
		fmt.Println(ChangedByOthers(file))
		return
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("this needs bubblewrap")
	}
	file, args := "/etc/passwd", []string{"--unshare-user"} // in a namespace root's files are a stranger's
	if os.Getuid() == 0 {
		file, args = filepath.Join(Resolve(t.TempDir()), "file"), append(args, "--uid", "1000", "--gid", "1000")
		if err := errors.Join(os.WriteFile(file, nil, 0o644), os.Chown(file, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
	}
	for how, want := range map[string]string{"--bind": file + " belongs to user", "--ro-bind": "\n"} {
		in := exec.CommandContext(t.Context(), bwrap, slices.Concat(args, []string{how, "/", "/", "--dev", "/dev", "--setenv", variable, file, os.Args[0], "-test.run", t.Name()})...)
		out, err := in.CombinedOutput()
		if err != nil && strings.Contains(string(out), "bwrap:") {
			t.Skipf("bubblewrap does not work: %s", out)
		}
		if err != nil || !strings.HasPrefix(string(out), want) {
			t.Errorf("%s: %v, %s", how, err, out)
		}
	}
}

// No link in place of a file of ours is followed.
func TestFilesOfOursAreNoLinks(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "log"), filepath.Join(dir, "victim")
	if err := errors.Join(WriteOwn(path, []byte("old")), WriteOwn(path, []byte("a")), os.WriteFile(victim, []byte("kept"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadOwn(path); string(b) != "a" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if err := EmptyOwn(path); err != nil {
		t.Error(err)
	}
	if OpenSafely == 0 {
		t.Skip("this system has no such flag")
	}
	if err := errors.Join(os.Remove(path), os.Symlink(victim, path)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOwn(path); err == nil {
		t.Error("it was read")
	}
	if WriteOwn(path, nil) == nil || EmptyOwn(path) == nil {
		t.Error("it was written")
	}
	if b, err := os.ReadFile(victim); string(b) != "kept" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
