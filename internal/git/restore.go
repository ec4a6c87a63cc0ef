package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Ignored selects what a restore does with files that .gitignore matches.
type Ignored string

// Treatments of ignored files.
const (
	RemoveIgnored Ignored = ""     // the checkout is exactly its commit
	KeepIgnored   Ignored = "keep" // build caches survive
)

// Restore is the input of Mirror.Restore.
type Restore struct {
	Dir        string // required, absolute; a folder for this checkout alone
	Index      string // required, absolute; git's index of Dir, outside Dir
	Commit     string // required; the content of Dir
	Branch     string // required; the agent's current branch
	Base       string // the base branch, for the agent to compare with; may be ""
	Ignored    Ignored
	Merge      *Merge       // a merge in progress to check out instead of Commit; may be nil
	Change     []FileChange // what lies in the folder Beside; may be nil
	Submodules []Submodule  // as Submodules fetched them; folders of others stay empty
	Guarded    Guarded      // its tree is checked out instead of Commit's, see Guard; may be zero
}

// Restore makes the checkout hold exactly the commit, from any state, and verifies it. The
// agent gets its own repository in .git, which we never use. A commit that the mirror lacks is a
// *MissingError, one that this machine cannot check out a *CheckoutError.
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
	if err := m.requireDistinctNames(ctx, r.Treeish()); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	first := tryRestore(ctx, m, r)
	if first == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// Repair in place failed: start from empty folders.
	if err := errors.Join(files.Remove(r.Dir), files.Remove(r.Index)); err != nil {
		return fmt.Errorf("restore: %w", errors.Join(first, err))
	}
	if err := tryRestore(ctx, m, r); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

// requireDistinctNames refuses a tree with two names that are one on this file system: git would
// write both into one file, and every checkout would differ from its commit.
func (m *Mirror) requireDistinctNames(ctx context.Context, treeish string) error {
	config, _ := os.ReadFile(m.path("config")) // a mirror that lacks it is mended by who restores
	if !foldsCase().Match(config) {
		return nil
	}
	entries, err := m.entries(ctx, treeish)
	if err != nil {
		return err
	}
	if one, other, found := sameButForCase(entries); found {
		return &CheckoutError{
			Why: fmt.Sprintf("%q and %q are one file on the file system of the machine that runs gh mergexo", one, other),
			Do:  "rename one of the two, or run gh mergexo where both can be",
		}
	}
	return nil
}

// foldsCase matches what git writes into a new repository's configuration where the file system
// takes "A" and "a" for one name.
var foldsCase = lazy.Regexp(`(?mi)^\s*ignorecase\s*=\s*true\b`)

// folded returns what names have in common that such a file system takes for one: macOS composes
// accents, too.
func folded(name string) string { return norm.NFC.String(cases.Fold().String(name)) }

// sameButForCase finds a file whose name is another file's or a folder's but for case. Folders
// become one, and their files stay apart.
func sameButForCase(entries []treeEntry) (one, other string, found bool) {
	files, folders := map[string]string{}, map[string]string{}
	for _, e := range entries {
		name := folded(e.Path)
		if other, found := files[name]; found {
			return other, e.Path, true
		}
		files[name] = e.Path
		for at := path.Dir(e.Path); at != "."; at = path.Dir(at) {
			folders[folded(at)] = e.Path
		}
	}
	for _, e := range entries {
		if below, found := folders[folded(e.Path)]; found {
			return e.Path, below, true
		}
	}
	return "", "", false
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
	if err := checkOutFiles(ctx, m, r); err != nil {
		return err
	}
	if err := m.verify(ctx, r); err != nil {
		return err
	}
	if err := noteIndex(ctx, m, r); err != nil {
		return err
	}
	if err := createAgentRepository(ctx, m, r); err != nil || r.Change == nil {
		return err
	}
	return layOut(ctx, m, r.Dir, r.Change)
}

// Treeish returns the commit or the tree to check out.
func (r Restore) Treeish() string {
	if r.Merge != nil {
		return r.Merge.Tree
	}
	return cmp.Or(r.Guarded.Tree, r.Commit)
}

// checkOutFiles writes the commit to the index and the files, and removes all other files. Of a
// guarded checkout's ignored files, it also removes those that agents obey: an earlier turn may have
// left them, or a set-up made them.
func checkOutFiles(ctx context.Context, m *Mirror, r Restore) error {
	if _, err := m.checkoutCommand(r.Dir, r.Index, "read-tree", "--reset", "-u", r.Treeish()).Run(ctx); err != nil {
		return err
	}
	if _, err := m.checkoutCommand(r.Dir, r.Index, "clean", "--quiet", r.cleanFlags()).Run(ctx); err != nil {
		return err
	}
	if r.Ignored != KeepIgnored || r.Guarded.Tree == "" {
		return nil
	}
	ignored, err := m.checkoutCommand(r.Dir, r.Index, "ls-files", "-z", "--others", "--ignored", "--exclude-standard").fields(ctx)
	for _, file := range ignored {
		if r.Guarded.obeyed.has(file) {
			err = errors.Join(err, files.Remove(filepath.Join(r.Dir, filepath.FromSlash(file))))
		}
	}
	return err
}

func (r Restore) cleanFlags() string {
	if r.Ignored == KeepIgnored {
		return "-ffd"
	}
	return "-ffdx"
}

// verify compares commit, index and files, and fills submodules. One command lists the index and the files that differ
// from it.
func (m *Mirror) verify(ctx context.Context, r Restore) error {
	tree, err := m.treeOf(ctx, r.Treeish())
	if err != nil {
		return err
	}
	want, err := m.objects.list(ctx, tree)
	if err != nil {
		return err
	}
	list := []string{"ls-files", "-z", "-t", "--stage", "--modified", "--others"}
	if r.Ignored == KeepIgnored {
		list = append(list, "--exclude-standard")
	}
	lines, err := m.checkoutCommand(r.Dir, r.Index, list...).fields(ctx)
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
	for _, e := range want { // git does not look into a submodule's folder
		if e.Mode != modeGitlink {
			continue
		}
		if err := files.Empty(filepath.Join(r.Dir, filepath.FromSlash(e.Path))); err != nil {
			return err
		}
	}
	return m.fillModules(ctx, r, want)
}

// noteIndex remembers the verified index, so that a commit reads it again only if it changed.
func noteIndex(ctx context.Context, m *Mirror, r Restore) error {
	was, err := stateOf(r.Index)
	if err != nil {
		return err
	}
	was.tree, err = m.treeOf(ctx, r.Treeish())
	m.indexes.Store(r.Index, was)
	return err
}

// restored describes an index after a restore. Its modification time matters: git uses it to detect
// files that changed without a visible change of their stats.
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

// holdsIndex reports whether a copy of a restored index is unchanged and holds the tree.
func (m *Mirror) holdsIndex(index, copied, tree string) bool {
	was, known := m.indexes.Load(index)
	now, err := stateOf(copied)
	now.tree = tree
	return known && err == nil && was == now
}

// readIndex splits the output of ls-files: lines such as "H 100644 oid 0\tpath" are entries of the
// index. Lines with C (changed files) and "? path" (untracked ones) are wrong.
func readIndex(lines []string) (have []treeEntry, wrong []string) {
	for _, line := range lines {
		head, path, _ := strings.Cut(line, "\t")
		if f := strings.Fields(head); len(f) == 4 && f[0] == "H" && f[3] == "0" && path != "" {
			have = append(have, treeEntry{Mode: f[1], OID: f[2], Path: path})
		} else {
			wrong = append(wrong, line)
		}
	}
	sorted.By(have, func(a, b treeEntry) int { return cmp.Compare(a.Path, b.Path) })
	return have, wrong
}
