package git

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// emptyTree is the empty tree, which every git knows.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// path returns a path within the mirror's folder.
func (m *Mirror) path(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

// validOID reports whether s is a full object id.
func validOID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Has reports whether the commit is in the mirror; false also if git could not be asked.
func (m *Mirror) Has(ctx context.Context, oid string) bool {
	return m.missing(ctx, oid) == nil
}

// missing returns a *MissingError for the first commit that is not in the mirror. One without its history counts
// as missing, see clone.
func (m *Mirror) missing(ctx context.Context, oids ...string) error {
	if len(oids) > 0 && m.partial() {
		return &MissingError{OID: oids[0]}
	}
	names := make([]string, len(oids))
	for i, oid := range oids {
		if !validOID(oid) {
			return &MissingError{OID: oid}
		}
		names[i] = oid + "^{commit}"
	}
	found, err := m.objects.resolve(ctx, names...)
	if err != nil {
		return err
	}
	for i, o := range found {
		if !o.found() {
			return &MissingError{OID: oids[i]}
		}
	}
	return nil
}

// Head returns the head of the remote's branch as of its last fetch.
func (m *Mirror) Head(ctx context.Context, branch string) (string, bool, error) {
	if err := checkBranch(branch); err != nil {
		return "", false, fmt.Errorf("read head: %w", err)
	}
	return m.ref(ctx, trackingRefs+branch)
}

// ref resolves a ref. ok is false if it is absent or names a missing object.
func (m *Mirror) ref(ctx context.Context, name string) (string, bool, error) {
	found, err := m.objects.resolve(ctx, name)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	return found[0].OID, found[0].found(), nil
}

// treeOf returns the tree of a commit or tree; "" is the empty tree.
func (m *Mirror) treeOf(ctx context.Context, commit string) (string, error) {
	if commit == "" {
		return emptyTree, nil
	}
	if !validOID(commit) {
		return "", fmt.Errorf("%q is no object id", commit)
	}
	oid, ok, err := m.ref(ctx, commit+"^{tree}")
	if err == nil && !ok {
		err = &MissingError{OID: commit}
	}
	return oid, err
}

// IsAncestor reports whether a is b or reachable from it.
func (m *Mirror) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	if err := m.missing(ctx, a, b); err != nil {
		return false, err
	}
	if near, err := m.objects.isSelfOrChild(ctx, b, a); err != nil || near {
		return near, err
	}
	c := m.command("merge-base", "--is-ancestor", a, b)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", a, b, err)
	}
	return res.Code == 0, nil
}

// ChangedFiles lists the paths that differ between two commits. A from of "" is the empty tree.
func (m *Mirror) ChangedFiles(ctx context.Context, from, to string) ([]string, error) {
	paths, err := m.changedFiles(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	return paths, nil
}

// MergedFiles lists the paths that a pull request with a head brought: those that its commits changed
// since they left the base, as it was before merged, the commit of the merge and the last one of a rebase. None are listed if people
// pushed the head itself to the base: nothing shows then what the base was.
func (m *Mirror) MergedFiles(ctx context.Context, merged, head string) ([]string, error) {
	if err := m.missing(ctx, merged, head); err != nil {
		return nil, err
	}
	c, err := m.objects.Commit(ctx, merged)
	if err != nil || len(c.Parents) == 0 || merged == head {
		return nil, err
	}
	from, ok, err := m.mergeBase(ctx, c.Parents[0], head)
	if err != nil {
		return nil, fmt.Errorf("look for where %s left the base of %s: %w", head, merged, err)
	}
	if !ok {
		return nil, nil
	}
	return m.ChangedFiles(ctx, from, head)
}

// treeChanges returns the files that differ between two commits.
func (m *Mirror) treeChanges(ctx context.Context, from, to string) ([]treeChange, error) {
	a, err := m.treeOf(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := m.treeOf(ctx, to)
	if err != nil {
		return nil, err
	}
	return m.objects.changes(ctx, a, b)
}

func (m *Mirror) changedFiles(ctx context.Context, from, to string) ([]string, error) {
	changes, err := m.treeChanges(ctx, from, to)
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	return paths, err
}

// ReadFile returns a file's content in a commit; false if there is no such file.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string) ([]byte, bool, error) {
	if !validOID(commit) {
		return nil, false, fmt.Errorf("read %q: %q is no object id", path, commit)
	}
	tree, ok, err := m.ref(ctx, commit+"^{tree}")
	if err != nil || !ok {
		return nil, false, err
	}
	at, ok, err := m.objects.entryAt(ctx, tree, path)
	if err != nil || !ok || at.Mode == modeTree || at.Mode == modeGitlink {
		return nil, false, err // a folder or a submodule
	}
	content, err := m.objects.content(ctx, object{OID: at.OID, Kind: "blob"})
	if err != nil {
		return nil, false, fmt.Errorf("read %q: %w", path, err)
	}
	return content, true, nil
}

// ListFiles lists every path of a commit.
func (m *Mirror) ListFiles(ctx context.Context, commit string) ([]string, error) {
	paths, err := m.changedFiles(ctx, "", commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return paths, nil
}

// Pointers lists the files of a commit that are pointers of Git LFS. They are looked for if the
// .gitattributes at its root names LFS.
func (m *Mirror) Pointers(ctx context.Context, commit string) ([]string, error) {
	attributes, ok, err := m.ReadFile(ctx, commit, ".gitattributes")
	if err != nil || !ok || !bytes.Contains(attributes, []byte("filter=lfs")) {
		return nil, err
	}
	c := m.command("grep", "-l", "-z", "-e", "^version https://git-lfs.github.com/spec/v1$", commit)
	c.Answers = []int{1} // none
	paths, err := c.fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for pointers of LFS: %w", err)
	}
	for i := range paths {
		paths[i] = strings.TrimPrefix(paths[i], commit+":")
	}
	return paths, nil
}

// FileIDs returns the files of a commit or tree whose path is kept, each as mode, object id and path:
// two trees in which they are the same have the same ones.
func (m *Mirror) FileIDs(ctx context.Context, treeish string, keep func(path string) bool) ([]string, error) {
	all, err := m.entries(ctx, treeish)
	if err != nil {
		return nil, fmt.Errorf("list files of %s: %w", treeish, err)
	}
	var kept []string
	for _, e := range all {
		if keep(e.Path) {
			kept = append(kept, e.Mode+" "+e.OID+" "+e.Path)
		}
	}
	return kept, nil
}

// IgnoredPaths lists what git ignores in a checkout: files, and folders in which it ignores
// everything, relative and with slashes.
func (m *Mirror) IgnoredPaths(ctx context.Context, dir, index string) ([]string, error) {
	paths, err := m.checkoutCommand(dir, index, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], "/")
	}
	return slices.DeleteFunc(paths, func(path string) bool { return path == "." }), nil // all of the checkout says nothing
}

// checkBranch refuses names that git refuses for branches (git-check-ref-format(1)) or that could
// lead a path elsewhere.
func checkBranch(name string) error {
	bad := name == "" || name == "@" || strings.HasPrefix(name, "-") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	for _, r := range name {
		bad = bad || r < ' '
	}
	if bad {
		return fmt.Errorf("%q is no branch name", name)
	}
	return nil
}

// MergeBase returns the merge base of head and a branch of the remote as of the last fetch. ok is
// false if they have no common history or the branch is unknown.
func (m *Mirror) MergeBase(ctx context.Context, branch, head string) (string, bool, error) {
	tip, ok, err := m.Head(ctx, branch)
	if err != nil || !ok {
		return "", false, err
	}
	if base, known := m.bases.Load(tip + head); known {
		return base.(string), true, nil
	}
	base, ok, err := m.mergeBase(ctx, tip, head)
	if err != nil {
		return "", false, fmt.Errorf("look for where %s left %s: %w", head, branch, err)
	}
	if ok {
		m.bases.Store(tip+head, base) // the merge base of two commits never changes
	}
	return base, ok, nil
}

// commitsLookedAt is how many commits mergeBase reads itself before it starts git merge-base.
const commitsLookedAt = 20

func (m *Mirror) mergeBase(ctx context.Context, tip, head string) (string, bool, error) {
	if _, onTip, err := m.objects.line(ctx, tip, head, commitsLookedAt); err != nil || onTip {
		return tip, onTip, err
	}
	c := m.command("merge-base", tip, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	return strings.TrimSpace(string(res.Stdout)), res.Code == 0, err
}
