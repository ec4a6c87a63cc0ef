package gate

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// findRepositories walks the checkout by itself, without git, and lists every
// .git below root, as slashed paths of what they stand in ("." for root's
// own). It follows no link, and makes folders readable that are not.
func findRepositories(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != root && isDotGit(d.Name(), runtime.GOOS) {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return files.OpenFolder(path, d)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for repositories in the checkout: %w", tooLong(err))
	}
	return found, nil
}

// findIrregular lists what no tree can hold: pipes, sockets, devices.
func findIrregular(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type()&Irregular != 0 {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			found = append(found, filepath.ToSlash(rel))
		}
		if d.IsDir() {
			return files.OpenFolder(path, d)
		}
		return nil
	})
	return found, tooLong(err)
}

// Sweep removes every .git in the checkout, root's own too.
func Sweep(root string) error {
	found, err := findRepositories(root)
	if err != nil {
		return err
	}
	odd, err := findIrregular(root)
	if err != nil {
		return err
	}
	for _, rel := range append(found, odd...) {
		if err := files.Remove(filepath.Join(root, filepath.FromSlash(rel))); err != nil {
			return err
		}
	}
	return nil
}

// Repositories looks for repositories in the tree before git does. One in
// a submodule's folder or in an ignored folder is the agent's convenience and
// is removed; any other one is refused, and left for the agent to see.
func (g Gate) Repositories(ctx context.Context) error {
	found, err := findRepositories(g.Dir)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p string) bool { return !strings.Contains(p, "/") }) // the checkout's own
	if len(found) == 0 {
		return nil
	}
	links, err := Submodules(ctx, g.Mirror, g.Dir, g.Index)
	if err != nil {
		return err
	}
	var refused refusals
	for _, p := range found {
		folder := path.Dir(p)
		if slices.ContainsFunc(links, func(l string) bool { return folder == l || strings.HasPrefix(folder, l+"/") }) {
			continue
		}
		ignored, err := g.ignored(ctx, folder)
		if err != nil {
			return err
		}
		if !ignored {
			refused.add("%q is a repository within the repository", folder)
		}
	}
	if err := refused.err(); err != nil {
		return err
	}
	return DropNested(g.Dir)
}

func (g Gate) ignored(ctx context.Context, folder string) (bool, error) {
	check := g.Mirror.CheckoutCall(g.Dir, g.Index, "check-ignore", "--quiet", "-z", "--stdin")
	check.Env = []string{"GIT_LITERAL_PATHSPECS=0"} // refused by this command; ./ makes the path literal
	check.Stdin = []byte("./" + folder + "/\x00")
	check.Answers = []int{1}
	res, err := runPatterns(ctx, check, patternTimeout(g.Mirror))
	if err != nil {
		return false, err
	}
	return res.Code == 0, nil
}

// DropNested removes every .git below the checkout's own.
func DropNested(dir string) error {
	found, err := findRepositories(dir)
	if err != nil {
		return err
	}
	for _, p := range found {
		if !strings.Contains(p, "/") {
			continue
		}
		if err := files.Remove(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			return err
		}
	}
	return nil
}

// Submodules lists the submodules of the index.
func Submodules(ctx context.Context, m *mirror.Mirror, dir, index string) ([]string, error) {
	entries, err := m.CheckoutCall(dir, index, "ls-files", "--stage", "-z").Fields(ctx)
	if err != nil {
		return nil, err
	}
	var links []string
	for _, line := range entries {
		head, path, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(head, modeGitlink+" ") {
			links = append(links, path)
		}
	}
	return links, nil
}
