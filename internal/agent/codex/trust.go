package codex

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// untrusted is the setting that makes codex ignore .codex folders of a checkout: their servers and
// hooks would run outside codex's sandbox with the operator's rights. It wins over a home that
// already trusts the folder, and keeps codex from recording trust there. Only this form of the
// setting works: a dotted key is split at the dots of the path.
func untrusted(dir string) string {
	var pairs []string
	for _, project := range projects(dir) {
		pairs = append(pairs, tomlString(project)+`={trust_level="untrusted"}`)
	}
	return "projects={" + strings.Join(pairs, ",") + "}"
}

// projects returns the folders by which codex may look up whether a checkout is trusted: the given
// path, its real path, and the root of its repository, which for a linked worktree is that of the
// main one.
func projects(dir string) []string {
	all := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		all = append(all, real)
	}
	for _, d := range slices.Clone(all) {
		all = append(all, repositoryRoots(d)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// repositoryRoots returns the folder with a .git at or above dir, and the main worktree if that is
// a linked one.
func repositoryRoots(dir string) []string {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.Mode().IsRegular():
			return append([]string{dir}, mainWorktree(dir)...)
		case err == nil:
			return []string{dir}
		case dir == filepath.Dir(dir):
			return nil
		}
	}
}

// maxGitFile bounds a .git file, in bytes: it holds a path.
const maxGitFile = 4 << 10

// mainWorktree finds a linked worktree's repository: its .git names REPO/.git/worktrees/NAME.
func mainWorktree(dir string) []string {
	f, info, err := files.OpenRegular(filepath.Join(dir, ".git")) // the agent can write to the checkout
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil || info.Size() > maxGitFile {
		return nil
	}
	gitDir := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, gitDir)
	}
	common := filepath.Dir(filepath.Dir(gitDir))
	if filepath.Base(common) != ".git" {
		return nil
	}
	return []string{filepath.Dir(common)}
}
