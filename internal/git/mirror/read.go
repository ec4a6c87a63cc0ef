package mirror

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// EmptyTree is the tree without files; every git knows it.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Path is a path within the mirror.
func (m *Mirror) Path(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

// ValidOID reports whether s is a whole object id.
func ValidOID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Has reports whether the commit is in the mirror.
func (m *Mirror) Has(ctx context.Context, oid string) bool {
	if !ValidOID(oid) {
		return false
	}
	_, err := m.Call("cat-file", "-e", oid+"^{commit}").Text(ctx)
	return err == nil
}

// Head is where the remote's branch stood at the last fetch or push.
func (m *Mirror) Head(ctx context.Context, branch string) (string, bool, error) {
	if err := CheckBranch(branch); err != nil {
		return "", false, fmt.Errorf("read head: %w", err)
	}
	return m.Ref(ctx, Tracking+branch)
}

// Ref reads a ref that may be absent.
func (m *Mirror) Ref(ctx context.Context, name string) (string, bool, error) {
	c := m.Call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	oid := strings.TrimSpace(string(res.Stdout))
	return oid, res.Code == 0, nil
}

// Tree is the tree of a commit; that of no commit is empty.
func (m *Mirror) Tree(ctx context.Context, commit string) (string, error) {
	if commit == "" {
		return EmptyTree, nil
	}
	if !ValidOID(commit) {
		return "", fmt.Errorf("%q is no object id", commit)
	}
	oid, ok, err := m.Ref(ctx, commit+"^{tree}")
	if err == nil && !ok {
		err = &MissingError{OID: commit}
	}
	return oid, err
}

// IsAncestor reports whether a is b or reachable from it.
func (m *Mirror) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	for _, oid := range []string{a, b} {
		if !m.Has(ctx, oid) {
			return false, &MissingError{OID: oid}
		}
	}
	c := m.Call("merge-base", "--is-ancestor", a, b)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", a, b, err)
	}
	return res.Code == 0, nil
}

// ChangedFiles lists the paths that differ between two commits; from may be
// "", the empty tree.
func (m *Mirror) ChangedFiles(ctx context.Context, from, to string) ([]string, error) {
	a, err := m.Tree(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	b, err := m.Tree(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	files, err := m.Call("diff-tree", "-r", "-z", "--name-only", "--no-renames", a, b).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	return files, nil
}

// ReadFile is a file's content in a commit; false when there is no such file.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string) ([]byte, bool, error) {
	if !ValidOID(commit) {
		return nil, false, fmt.Errorf("read %q: %q is no object id", path, commit)
	}
	oid, ok, err := m.Ref(ctx, commit+":"+path)
	if err != nil || !ok {
		return nil, false, err
	}
	kind, err := m.Call("cat-file", "-t", oid).Text(ctx)
	if err != nil || kind != "blob" {
		return nil, false, nil //nolint:nilerr // a folder or a submodule is no file
	}
	res, err := m.Call("cat-file", "blob", oid).Run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read %q: %w", path, err)
	}
	return res.Stdout, true, nil
}

// ListFiles lists every path of a commit.
func (m *Mirror) ListFiles(ctx context.Context, commit string) ([]string, error) {
	tree, err := m.Tree(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files, err := m.Call("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return files, nil
}

// CheckBranch refuses what git would refuse as a branch name, and what could
// lead a path elsewhere (git-check-ref-format(1)).
func CheckBranch(name string) error {
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

// MergeBase is where head left a branch of the remote, as last fetched; false
// when they have no history in common, or the branch is not known.
func (m *Mirror) MergeBase(ctx context.Context, branch, head string) (string, bool, error) {
	tip, ok, err := m.Head(ctx, branch)
	if err != nil || !ok {
		return "", false, err
	}
	c := m.Call("merge-base", tip, head)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("look for where %s left %s: %w", head, branch, err)
	}
	return strings.TrimSpace(string(res.Stdout)), res.Code == 0, nil
}
