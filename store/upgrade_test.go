package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestUpgradeBy(t *testing.T) {
	root := t.TempDir()
	program := filepath.Join(root, "bin", "gh-mergexo")
	if err := os.Mkdir(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bin/gh-mergexo", "go.mod", "gh-mergexo"} {
		if got := upgradeBy(program, nil); got != "gh extension upgrade mergexo" {
			t.Errorf("a release: %s", got)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "gh-mergexo")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	target, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{program, link} {
		if got := upgradeBy(program, nil); got != "git -C "+target+" pull" {
			t.Errorf("a clone: %s", got)
		}
	}
	if got := upgradeBy("", errors.New("not known")); got != "gh extension upgrade mergexo" {
		t.Errorf("an unknown program: %s", got)
	}
}
