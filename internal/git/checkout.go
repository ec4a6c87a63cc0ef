package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// irregular has the file types that a tree cannot hold.
const irregular = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeCharDevice | fs.ModeIrregular

// checkCheckout refuses a checkout that was replaced: through a link git would commit files from
// elsewhere. It also refuses a .gitignore or .gitattributes that is a pipe, on which git would
// block for ever.
func checkCheckout(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return &RefusedError{Reason: "the checkout was removed or replaced"}
	}
	odd, err := findIrregular(dir)
	if err != nil {
		return fmt.Errorf("look through the checkout: %w", err)
	}
	var refused refusals
	for _, p := range odd {
		if b := path.Base(p); b != ".gitignore" && b != ".gitattributes" {
			continue // checkFiles refuses such a path if git would add it
		}
		refused.add("%q is no file", p)
	}
	return refused.err()
}

// checkFiles refuses files that are too large or that git cannot add. It returns the changed paths.
func (g gate) checkFiles(ctx context.Context, index string) ([]string, error) {
	paths, err := changedPaths(ctx, g.mirror, g.Dir, index)
	if err != nil {
		return nil, err
	}
	var refused refusals
	if max := g.Limits.MaxFiles; max > 0 && len(paths) > max {
		refused.add("%d files are changed, %d are allowed", len(paths), max)
		return nil, refused.err()
	}
	for _, p := range paths {
		full := filepath.Join(g.Dir, filepath.FromSlash(p))
		info, err := os.Lstat(full)
		if err != nil {
			continue // removed
		}
		trouble := nameTrouble(p)
		switch {
		case trouble != "":
			refused.add("%s", trouble)
		case info.Mode()&fs.ModeSymlink != 0 && isGitmodules(path.Base(p)):
			refused.add("%q is a link, which git does not take", p)
		case info.Mode()&irregular != 0:
			refused.add("%q is no file", p)
		case !info.Mode().IsRegular():
		case g.Limits.MaxFileBytes > 0 && info.Size() > g.Limits.MaxFileBytes:
			refused.add("%q has %d bytes, %d are allowed", p, info.Size(), g.Limits.MaxFileBytes)
		case info.Mode().Perm()&0o400 == 0:
			if err := os.Chmod(full, info.Mode().Perm()|0o400); err != nil {
				return nil, err
			}
		}
	}
	return paths, refused.err()
}

// findRepositories walks the checkout without git and returns every .git below root by its
// slash-separated path. It follows no links and makes unreadable folders readable.
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
		return nil, fmt.Errorf("look for repositories in the checkout: %w", tooLongError(err))
	}
	return found, nil
}

// findIrregular lists pipes, sockets and devices, which a tree cannot hold.
func findIrregular(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type()&irregular != 0 {
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
	return found, tooLongError(err)
}

// removeRepositories removes every .git in the checkout, including root's own, and every irregular
// file.
func removeRepositories(root string) error {
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

// checkRepositories looks for nested repositories before git does. One in a submodule or an ignored
// folder is removed as the agent's convenience. Any other is refused and left for the agent to see.
func (g gate) checkRepositories(ctx context.Context) error {
	found, err := findRepositories(g.Dir)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p string) bool { return !strings.Contains(p, "/") }) // the checkout's own .git
	if len(found) == 0 {
		return nil
	}
	links, err := submodules(ctx, g.mirror, g.Dir, g.Index)
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
	return removeNested(g.Dir)
}

func (g gate) ignored(ctx context.Context, folder string) (bool, error) {
	check := g.mirror.checkoutCommand(g.Dir, g.Index, "check-ignore", "--quiet", "-z", "--stdin")
	check.Env = []string{"GIT_LITERAL_PATHSPECS=0"} // check-ignore refuses literal pathspecs; ./ makes the path literal
	check.Stdin = []byte("./" + folder + "/\x00")
	check.Answers = []int{1}
	res, err := runPatterns(ctx, check, patternTimeout(g.mirror))
	if err != nil {
		return false, err
	}
	return res.Code == 0, nil
}

// removeNested removes every .git except the checkout's own.
func removeNested(dir string) error {
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

func submodules(ctx context.Context, m *Mirror, dir, index string) ([]string, error) {
	entries, err := m.checkoutCommand(dir, index, "ls-files", "--stage", "-z").fields(ctx)
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

// changedPaths lists paths that differ from the index by their stats, and untracked ones that are
// not ignored.
func changedPaths(ctx context.Context, m *Mirror, dir, index string) ([]string, error) {
	res, err := runPatterns(ctx, m.checkoutCommand(dir, index, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate"), patternTimeout(m))
	if err != nil {
		return nil, err
	}
	return splitFields(res.Stdout), nil
}

// runPatterns runs a command that matches paths against the checkout's .gitignore or
// .gitattributes. Some patterns take git hours, so a timeout is a *RefusedError of the change.
func runPatterns(ctx context.Context, c command, limit time.Duration) (proc.Result, error) {
	c.Wall = limit
	res, err := c.Run(ctx)
	if late, ok := errors.AsType[*TimeoutError](err); ok {
		return res, &RefusedError{Reason: fmt.Sprintf("%s: git may never finish with the patterns in .gitignore or .gitattributes", late)}
	}
	return res, err
}

func patternTimeout(m *Mirror) time.Duration { return m.git.opt.PatternTimeout }

// addTimes multiplies the pattern timeout for adding files, whose contents git reads, too.
const addTimes = 4

// addToIndex runs a command that adds files of the checkout to an index and their contents to the
// quarantine. Files that git itself refuses are a *RefusedError.
func addToIndex(ctx context.Context, q *quarantine, add command) error {
	add.Objects = q.Env
	_, err := runPatterns(ctx, add, addTimes*patternTimeout(q.mirror))
	return refusedToAdd(err)
}

// addSigns are git's messages for paths that it never adds.
var addSigns = []string{"invalid path", "file name too long", "filename too long"}

// refusedToAdd turns git's own refusal into a *RefusedError, because a retry would not help.
func refusedToAdd(err error) error {
	var failed *CommandError
	if errors.As(err, &failed) && failed.Says(addSigns) {
		return &RefusedError{Reason: "git does not add it: " + failed.gist(3)}
	}
	return err
}
