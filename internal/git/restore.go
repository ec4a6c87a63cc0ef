package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Ignored says what a restore does with files that the tree's own rules ignore.
type Ignored string

// The treatments of ignored files.
const (
	RemoveIgnored Ignored = ""     // a checkout is exactly its commit
	KeepIgnored   Ignored = "keep" // build caches stay
)

// Restore describes the checkout that a turn needs.
type Restore struct {
	Dir     string // required; a folder that is nobody else's, absolute
	Index   string // required; git's index for Dir, outside it, absolute
	Commit  string // required; what Dir will hold
	Branch  string // required; the branch on which the agent finds itself
	Base    string // name of the base branch, for the agent to compare with; may be ""
	Ignored Ignored
	Merge   *Merge // the merge in progress that Dir will hold in place of Commit; may be nil
	Tree    string // the tree that Dir will hold in place of Commit's, see Guard; may be ""
}

// Restore makes the checkout hold exactly the commit, whatever state it is in,
// and verifies that. The agent gets a repository of its own in .git, which we
// never use. A commit that the mirror lacks is a *mirror.MissingError.
func (m *Mirror) Restore(ctx context.Context, r Restore) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if !m.Has(ctx, r.Commit) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("restore: %w", &MissingError{OID: r.Commit})
	}
	first := tryRestore(ctx, m, r)
	if first == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Beyond repair in place: begin with nothing.
	if err := errors.Join(files.Remove(r.Dir), files.Remove(r.Index)); err != nil {
		return fmt.Errorf("restore: %w", errors.Join(first, err))
	}
	if err := tryRestore(ctx, m, r); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func (r Restore) check() error {
	if !filepath.IsAbs(r.Dir) || !filepath.IsAbs(r.Index) {
		return fmt.Errorf("folder %q and index %q must be absolute", r.Dir, r.Index)
	}
	if rel, err := filepath.Rel(r.Dir, r.Index); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("index %q lies within the checkout", r.Index)
	}
	if r.Base != "" {
		if err := checkBranch(r.Base); err != nil {
			return err
		}
	}
	return checkBranch(r.Branch)
}

func tryRestore(ctx context.Context, m *Mirror, r Restore) error {
	if err := files.RealFolder(r.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.Index), 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(r.Index); err == nil && !info.Mode().IsRegular() {
		if err := files.Remove(r.Index); err != nil {
			return err
		}
	}
	if err := files.Remove(r.Index + ".lock"); err != nil {
		return err
	}
	if err := removeRepositories(r.Dir); err != nil {
		return err
	}
	if err := fill(ctx, m, r); err != nil {
		return err
	}
	if err := m.verify(ctx, r); err != nil {
		return err
	}
	if err := noteIndex(ctx, m, r); err != nil {
		return err
	}
	return giveRepository(ctx, m, r)
}

// holds is what the checkout will hold: a commit, or the tree that stands for it.
func (r Restore) holds() string {
	if r.Merge != nil {
		return r.Merge.Tree
	}
	return cmp.Or(r.Tree, r.Commit)
}

// fill makes index and files those of the commit and removes all others.
func fill(ctx context.Context, m *Mirror, r Restore) error {
	if _, err := m.checkoutCommand(r.Dir, r.Index, "read-tree", "--reset", "-u", r.holds()).Run(ctx); err != nil {
		return err
	}
	_, err := m.checkoutCommand(r.Dir, r.Index, "clean", "--quiet", r.cleanFlags()).Run(ctx)
	return err
}

func (r Restore) cleanFlags() string {
	if r.Ignored == KeepIgnored {
		return "-ffd"
	}
	return "-ffdx"
}

// verify compares commit, index and files. One command lists the index and what differs
// from it.
func (m *Mirror) verify(ctx context.Context, r Restore) error {
	tree, err := m.treeOf(ctx, r.holds())
	if err != nil {
		return err
	}
	want, err := m.objects.List(ctx, tree)
	if err != nil {
		return err
	}
	list := []string{"ls-files", "-z", "-t", "--stage", "--modified", "--others"}
	if r.Ignored == KeepIgnored {
		list = append(list, "--exclude-standard")
	}
	lines, err := m.checkoutCommand(r.Dir, r.Index, list...).Fields(ctx)
	if err != nil {
		return err
	}
	have, wrong := readIndex(lines)
	if !slices.Equal(have, want) {
		return fmt.Errorf("the index of %q does not hold tree %s", r.Dir, tree)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the checkout %q differs from %s in %d files, %q first", r.Dir, r.Commit, len(wrong), wrong[0])
	}
	for _, e := range want { // git does not look into the folder of a submodule
		if e.Mode != modeGitlink {
			continue
		}
		if err := files.Empty(filepath.Join(r.Dir, filepath.FromSlash(e.Path))); err != nil {
			return err
		}
	}
	return nil
}

// noteIndex remembers what the index is that was found to hold the checkout's tree, so that
// a commit need not have it read again, unless somebody changed it.
func noteIndex(ctx context.Context, m *Mirror, r Restore) error {
	was, err := stateOf(r.Index)
	if err != nil {
		return err
	}
	was.tree, err = m.treeOf(ctx, r.holds())
	m.indexes.Store(r.Index, was)
	return err
}

// restored is an index as a restore left it. Its time counts: git tells by that which
// files may have changed without a trace in it.
type restored struct {
	sum     string
	changed int64
	tree    string
}

func stateOf(index string) (restored, error) {
	info, err := os.Lstat(index)
	if err != nil {
		return restored{}, err
	}
	sum, err := files.Sum(index)
	return restored{sum: sum, changed: info.ModTime().UnixNano()}, err
}

// holdsIndex reports whether a copy of a restored index is what it was, and holds a tree.
func (m *Mirror) holdsIndex(index, copied, tree string) bool {
	was, known := m.indexes.Load(index)
	now, err := stateOf(copied)
	now.tree = tree
	return known && err == nil && was == now
}

// readIndex reads lines such as "H 100644 oid 0\tpath" of what the index has, others with
// C of files that differ, and "? path" of those that it does not have.
func readIndex(lines []string) (have []treeEntry, wrong []string) {
	for _, line := range lines {
		head, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 4 && f[0] == "H" && f[3] == "0" && path != "" {
			have = append(have, treeEntry{Mode: f[1], OID: f[2], Path: path})
		} else {
			wrong = append(wrong, line)
		}
	}
	slices.SortFunc(have, func(a, b treeEntry) int { return cmp.Compare(a.Path, b.Path) })
	return have, wrong
}
