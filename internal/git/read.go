package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// emptyTree is the tree without files; every git knows it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

func (m *Mirror) path(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

// validOID reports whether s is a whole object id.
func validOID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Has reports whether the commit is in the mirror.
func (m *Mirror) Has(ctx context.Context, oid string) bool {
	if !validOID(oid) {
		return false
	}
	_, err := m.call("cat-file", "-e", oid+"^{commit}").Text(ctx)
	return err == nil
}

// Head is where the remote's branch stood at the last fetch or push.
func (m *Mirror) Head(ctx context.Context, branch string) (string, bool, error) {
	if err := checkBranch(branch); err != nil {
		return "", false, fmt.Errorf("read head: %w", err)
	}
	return m.ref(ctx, tracking+branch)
}

// ref reads a ref that may be absent.
func (m *Mirror) ref(ctx context.Context, name string) (string, bool, error) {
	c := m.call("rev-parse", "--verify", "--quiet", "--end-of-options", name)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", name, err)
	}
	oid := strings.TrimSpace(string(res.Stdout))
	return oid, res.Code == 0, nil
}

// tree is the tree of a commit; that of no commit is empty.
func (m *Mirror) tree(ctx context.Context, commit string) (string, error) {
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
	for _, oid := range []string{a, b} {
		if !m.Has(ctx, oid) {
			return false, &MissingError{OID: oid}
		}
	}
	c := m.call("merge-base", "--is-ancestor", a, b)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return false, fmt.Errorf("look for %s in %s: %w", a, b, err)
	}
	return res.Code == 0, nil
}

// Carries reports whether a turn's work is reachable from head: the commit
// itself, or one that was made of it and still has the turn's trailer.
func (m *Mirror) Carries(ctx context.Context, head, turnKey, oid string) (bool, error) {
	if !m.Has(ctx, head) {
		return false, &MissingError{OID: head}
	}
	if m.Has(ctx, oid) {
		if ok, err := m.IsAncestor(ctx, oid, head); ok || err != nil {
			return ok, err
		}
	}
	if turnKey == "" {
		return false, nil
	}
	if err := checkKey(turnKey); err != nil {
		return false, err
	}
	found, err := m.call("log", "-1", "--format=%H", "--basic-regexp",
		"--grep=^"+work.TrailerTurn+": "+strings.ReplaceAll(work.ShortTurn(turnKey), ".", `\.`)+"[0-9a-f]*$", head).Text(ctx)
	if err != nil {
		return false, fmt.Errorf("look for turn %s: %w", turnKey, err)
	}
	return found != "", nil
}

// Entry is a commit, with what its trailers say.
type Entry struct {
	OID     string
	Subject string
	Ours    bool     // by our identity, or the one that the config gives to authors
	Turn    string   // of Mergexo-Turn: how the turn's key begins
	Handled []string // of Mergexo-Handled
}

// Log lists the commits that are reachable from to and not from from ("" for
// all), newest first, at most limit.
func (m *Mirror) Log(ctx context.Context, from, to string, limit int) ([]Entry, error) {
	args := []string{"log", "-z", "--format=%H %ae%n%B", fmt.Sprintf("-%d", limit), to}
	if !validOID(to) || (from != "" && !validOID(from)) {
		return nil, fmt.Errorf("list commits: %q..%q: no object ids", from, to)
	}
	if from != "" {
		args = append(args, "^"+from)
	}
	records, err := m.call(args...).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list commits: %w", err)
	}
	var entries []Entry
	for _, record := range records {
		head, message, _ := strings.Cut(record, "\n")
		oid, email, _ := strings.Cut(head, " ")
		e := Entry{OID: oid, Ours: m.wrote(email)}
		e.Subject, _, _ = strings.Cut(message, "\n")
		e.Turn, e.Handled = work.TrailersOf(message)
		entries = append(entries, e)
	}
	return entries, nil
}

// ChangedFiles lists the paths that differ between two commits; from may be
// "", the empty tree.
func (m *Mirror) ChangedFiles(ctx context.Context, from, to string) ([]string, error) {
	a, err := m.tree(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	b, err := m.tree(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	files, err := m.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", a, b).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	return files, nil
}

// ReadFile is a file's content in a commit; false when there is no such file.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string) ([]byte, bool, error) {
	if !validOID(commit) {
		return nil, false, fmt.Errorf("read %q: %q is no object id", path, commit)
	}
	oid, ok, err := m.ref(ctx, commit+":"+path)
	if err != nil || !ok {
		return nil, false, err
	}
	kind, err := m.call("cat-file", "-t", oid).Text(ctx)
	if err != nil || kind != "blob" {
		return nil, false, nil //nolint:nilerr // a folder or a submodule is no file
	}
	res, err := m.call("cat-file", "blob", oid).Run(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read %q: %w", path, err)
	}
	return res.Stdout, true, nil
}

// ListFiles lists every path of a commit.
func (m *Mirror) ListFiles(ctx context.Context, commit string) ([]string, error) {
	tree, err := m.tree(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	files, err := m.call("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).Fields(ctx)
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return files, nil
}

// checkBranch refuses what git would refuse as a branch name, and what could
// lead a path elsewhere (git-check-ref-format(1)).
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

// exists reports whether something is at the path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
