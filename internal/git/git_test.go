package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

func TestVersion(t *testing.T) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for said, ok := range map[string]bool{
		"git version 2.37.9": false, "git version 1.9": false, "git version 2.38.0": true, "git version 2.50.1 (Apple Git-155)": true,
		"git version 2.43.0.windows.1": true, "git version 3.0.0": true,
	} {
		bin := filepath.Join(t.TempDir(), "git")
		script := "#!/bin/sh\nwhile [ \"$1\" = -c ]; do shift 2; done\n[ \"$1\" = version ] && echo '" + said + "'\nexit 0\n"
		if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := git.Open(t.Context(), git.Options{Bin: bin, Env: env})
		var old *git.VersionError
		if errors.As(err, &old) == ok || (ok && err != nil) {
			t.Errorf("%s: %v", said, err)
		}
	}
	_, err := git.Open(t.Context(), git.Options{Env: []string{"PATH=" + t.TempDir()}})
	if !errors.Is(err, proc.ErrNotFound) {
		t.Errorf("no git: %v", err)
	}
}
