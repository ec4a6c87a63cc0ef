package codex

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheFoldersByWhichCodexMayTrustACheckout(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, tree, link := filepath.Join(root, "repo"), filepath.Join(root, "tree"), filepath.Join(root, "link")
	for _, args := range [][]string{
		{"init", "-q", repo},
		{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "--allow-empty", "-m", "first"},
		{"-C", repo, "worktree", "add", "-q", tree},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.Symlink(tree, link); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(tree, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		repo:                            {repo},
		tree:                            {repo, tree},
		link:                            {link, repo, tree},
		sub:                             {repo, tree, sub},
		filepath.Join(root, "missing"):  {filepath.Join(root, "missing")},
		filepath.Join(link, "a") + "/.": {link, filepath.Join(link, "a"), repo, tree, filepath.Join(tree, "a")},
	} {
		slices.Sort(want)
		got := slices.DeleteFunc(projects(dir), func(d string) bool { return !strings.HasPrefix(d, root) }) // /tmp may be a repository
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
