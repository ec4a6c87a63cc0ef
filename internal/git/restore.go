package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git/gate"
	"github.com/mergexo/gh-mergexo/internal/git/mirror"
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
		return fmt.Errorf("restore: %w", &mirror.MissingError{OID: r.Commit})
	}
	first := m.tryRestore(ctx, r)
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
	if err := m.tryRestore(ctx, r); err != nil {
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
		if err := mirror.CheckBranch(r.Base); err != nil {
			return err
		}
	}
	return mirror.CheckBranch(r.Branch)
}

func (m *Mirror) tryRestore(ctx context.Context, r Restore) error {
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
	if err := gate.Sweep(r.Dir); err != nil {
		return err
	}
	if err := m.fill(ctx, r); err != nil {
		return err
	}
	if err := m.verify(ctx, r); err != nil {
		return err
	}
	return m.giveRepository(ctx, r)
}

// holds is what the checkout will hold: a commit, or the tree that stands for it.
func (r Restore) holds() string {
	if r.Merge != nil {
		return r.Merge.Tree
	}
	return cmp.Or(r.Tree, r.Commit)
}

// fill makes index and files those of the commit and removes all others.
func (m *Mirror) fill(ctx context.Context, r Restore) error {
	if _, err := m.CheckoutCall(r.Dir, r.Index, "read-tree", "--reset", "-u", r.holds()).Run(ctx); err != nil {
		return err
	}
	links, err := gate.Submodules(ctx, m.Mirror, r.Dir, r.Index)
	if err != nil {
		return err
	}
	for _, link := range links { // clean does not look into the folder of a submodule
		if err := files.Empty(filepath.Join(r.Dir, filepath.FromSlash(link))); err != nil {
			return err
		}
	}
	_, err = m.CheckoutCall(r.Dir, r.Index, "clean", "--quiet", r.cleanFlags()).Run(ctx)
	return err
}

func (r Restore) cleanFlags() string {
	if r.Ignored == KeepIgnored {
		return "-ffd"
	}
	return "-ffdx"
}

// verify compares commit, index and files.
func (m *Mirror) verify(ctx context.Context, r Restore) error {
	want, err := m.Tree(ctx, r.holds())
	if err != nil {
		return err
	}
	have, err := m.CheckoutCall(r.Dir, r.Index, "write-tree").Text(ctx)
	if err != nil {
		return err
	}
	if have != want {
		return fmt.Errorf("the index of %q holds tree %s, want %s", r.Dir, have, want)
	}
	changed, err := m.CheckoutCall(r.Dir, r.Index, "diff-files", "-z", "--name-only", "--ignore-submodules=all").Fields(ctx)
	if err != nil {
		return err
	}
	others := []string{"ls-files", "-z", "--others"}
	if r.Ignored == KeepIgnored {
		others = append(others, "--exclude-standard")
	}
	foreign, err := m.CheckoutCall(r.Dir, r.Index, others...).Fields(ctx)
	if err != nil {
		return err
	}
	if wrong := append(changed, foreign...); len(wrong) > 0 {
		return fmt.Errorf("the checkout %q differs from %s in %d files, %q first", r.Dir, r.Commit, len(wrong), wrong[0])
	}
	return nil
}
