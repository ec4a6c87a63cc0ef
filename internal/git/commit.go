package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Commit is the input of CommitTree and CommitFiles.
type Commit struct {
	Dir     string    // CommitTree: the checkout
	Index   string    // CommitTree: its index, as Restore wrote it
	Parents []string  // none for the first commit of a repository
	Message string    // required; our trailers are appended
	Date    time.Time // required; equal inputs give equal commits
	Turn    string    // turn key; required
	Handled []string  // event keys
	Limits  Limits

	Trailers []string // more trailers, "Key: value"
	Account  Identity // the author if neither Voice nor the operator's git names one
	Edit     *Edit    // CommitTree: changes of our own; may be nil
	From     string   // CommitTree: the tree that was checked out, if not the first parent's; may be ""
}

// Committed is the result of a commit.
type Committed struct {
	OID   string // "" when Empty
	Tree  string
	Empty bool     // the tree equals that of the only parent: no commit was made
	Files []string // paths that differ from every parent
}

// CommitTree commits the files of the checkout if they pass the gates. Otherwise the error is a
// *RefusedError and nothing reaches the mirror. The agent's own .git is ignored.
func (m *Mirror) CommitTree(ctx context.Context, c Commit) (Committed, error) {
	var out Committed
	if err := checkCheckout(c.Dir); err != nil {
		return out, fmt.Errorf("commit checkout: %w", err)
	}
	if err := m.gate(c).checkRepositories(ctx); err != nil {
		return out, fmt.Errorf("commit checkout: %w", err)
	}
	err := m.inQuarantine(ctx, "tree "+c.Index, func(q *quarantine) error {
		index, err := m.copyIndex(ctx, c, q)
		if err != nil {
			return err
		}
		if err := dropLeftovers(ctx, m, c.Dir, index); err != nil {
			return err
		}
		changed, err := m.gate(c).checkFiles(ctx, index)
		if err != nil {
			return err
		}
		if err := m.addChanged(ctx, c, index, changed, q); err != nil {
			return err
		}
		if err := m.edit(ctx, c, index, q); err != nil {
			return err
		}
		out, err = m.commitIndex(ctx, c, index, q)
		return err
	})
	if err != nil {
		return Committed{}, fmt.Errorf("commit checkout: %w", err)
	}
	return out, nil
}

// gate returns the gate for this commit.
func (m *Mirror) gate(c Commit) gate {
	return gate{mirror: m, Dir: c.Dir, Index: c.Index, Parents: c.Parents, From: c.From, Limits: c.Limits}
}

// copyIndex makes a private index that holds the parent's tree and the files' stats, so that only
// changed files are read.
func (m *Mirror) copyIndex(ctx context.Context, c Commit, q *quarantine) (string, error) {
	index := filepath.Join(q.Dir, "index")
	parent := emptyTree
	if len(c.Parents) > 0 {
		parent = c.Parents[0]
	}
	if c.From != "" {
		parent = c.From
	}
	reset := m.checkoutCommand(c.Dir, index, "read-tree", "--reset", parent)
	if err := files.Copy(c.Index, index, 0o600); err == nil {
		if tree, err := m.treeOf(ctx, parent); err == nil && m.holdsIndex(c.Index, index, tree) {
			return index, nil
		}
		if _, err := reset.Run(ctx); err == nil {
			return index, nil
		}
	}
	if err := files.Remove(index); err != nil {
		return "", err
	}
	if err := files.Remove(index + ".lock"); err != nil {
		return "", err
	}
	_, err := reset.Run(ctx)
	return index, err
}

// CommitFiles makes a commit without a checkout: the parent's tree plus files, keyed by
// slash-separated path.
func (m *Mirror) CommitFiles(ctx context.Context, c Commit, files map[string][]byte) (Committed, error) {
	var out Committed
	err := m.inQuarantine(ctx, "files "+c.Turn, func(q *quarantine) error {
		index := filepath.Join(q.Dir, "index")
		parent := emptyTree
		if len(c.Parents) > 0 {
			parent = c.Parents[0]
		}
		at := m.command("read-tree", parent)
		at.Index = index
		if _, err := at.Run(ctx); err != nil {
			return err
		}
		if err := m.addFiles(ctx, index, files, q); err != nil {
			return err
		}
		var err error
		if out, err = m.commitIndex(ctx, c, index, q); err != nil {
			return err
		}
		return checkAdded(ctx, q, out.Tree, files)
	})
	if err != nil {
		return Committed{}, fmt.Errorf("commit files: %w", err)
	}
	return out, nil
}

// addFiles puts files into the index; took checks that git accepted them all.
func (m *Mirror) addFiles(ctx context.Context, index string, files map[string][]byte, q *quarantine) error {
	var lines strings.Builder
	for path, content := range files {
		hash := q.command("hash-object", "-w", "--stdin", "--no-filters")
		hash.Stdin = content
		oid, err := hash.text(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "100644 %s\t%s\x00", oid, path)
	}
	update := q.command("update-index", "-z", "--index-info")
	update.Index, update.Stdin = index, []byte(lines.String())
	_, err := update.Run(ctx)
	return err
}

// checkAdded checks that a tree has the added files, because git only warns of a path that it
// refuses.
func checkAdded(ctx context.Context, q *quarantine, tree string, files map[string][]byte) error {
	for path := range files {
		at, ok, err := q.reader.entryAt(ctx, tree, path)
		if err != nil {
			return err
		}
		if !ok || at.Mode != "100644" {
			return fmt.Errorf("%q is no path for a file", path)
		}
	}
	return nil
}

// commitIndex writes the tree, runs the gates and commits.
func (m *Mirror) commitIndex(ctx context.Context, c Commit, index string, q *quarantine) (Committed, error) {
	write := q.command("write-tree")
	write.Index = index
	tree, err := write.text(ctx)
	if err != nil {
		return Committed{}, err
	}
	paths, err := m.gate(c).checkTree(ctx, q, tree, index)
	if err != nil {
		return Committed{}, err
	}
	out := Committed{Tree: tree, Files: paths}
	if len(c.Parents) == 1 {
		before, err := m.treeOf(ctx, c.Parents[0])
		if err != nil {
			return Committed{}, err
		}
		if before == tree {
			out.Empty = true
			return out, nil
		}
	}
	message, err := m.message(c)
	if err != nil {
		return Committed{}, err
	}
	author, err := m.author(c.Account)
	if err != nil {
		return Committed{}, err
	}
	out.OID, err = m.writeCommit(ctx, rawCommit{
		tree: tree, parents: c.Parents, message: message, date: stamp(c.Date), author: author, in: q, signing: asOperator,
	})
	return out, err
}

// stamp formats a date without ambiguity for git.
func stamp(t time.Time) string { return fmt.Sprintf("@%d +0000", t.Unix()) }

type signing int

const (
	unsigned   signing = iota // the commit stays on this machine
	asOperator                // signed if the operator's git signs commits
)

type rawCommit struct {
	tree    string
	parents []string
	message string
	author  Identity
	date    string
	in      *quarantine
	signing signing
}

func (m *Mirror) writeCommit(ctx context.Context, r rawCommit) (string, error) {
	args := []string{"commit-tree", r.tree}
	for _, p := range r.parents {
		args = append(args, "-p", p)
	}
	c := r.in.command(args...)
	sign := r.signing == asOperator && m.git.signsCommits()
	if sign {
		c.Args = append(c.Args, "-S")
		c.Config = m.git.signingConfig()
	}
	c.Stdin = []byte(r.message)
	who := m.committer(r)
	c.Env = []string{
		"GIT_AUTHOR_NAME=" + r.author.Name, "GIT_AUTHOR_EMAIL=" + r.author.Email, "GIT_AUTHOR_DATE=" + r.date,
		"GIT_COMMITTER_NAME=" + who.Name, "GIT_COMMITTER_EMAIL=" + who.Email, "GIT_COMMITTER_DATE=" + r.date,
	}
	oid, err := c.text(ctx)
	var failed *CommandError
	if sign && errors.As(err, &failed) {
		return "", &SigningError{Detail: failed.gist(3)}
	}
	return oid, err
}

// message returns the commit message with trailers.
func (m *Mirror) message(c Commit) (string, error) {
	if err := checkKey(c.Turn); err != nil {
		return "", err
	}
	trailers, err := m.trailers(c)
	if err != nil {
		return "", err
	}
	return assemble(c.Message, trailers)
}

// assemble appends trailers, one per line, to a message. Lines of the message that imitate our
// trailers are dropped.
func assemble(message string, trailers []string) (string, error) {
	message = strings.ReplaceAll(strings.ToValidUTF8(work.Normalise(message), "\uFFFD"), "\x00", "")
	var b strings.Builder
	for line := range strings.Lines(message) {
		if imitatesTrailer(line) {
			continue
		}
		b.WriteString(strings.TrimRight(line, " \t\n") + "\n")
	}
	text := strings.Trim(b.String(), "\n")
	if text == "" {
		return "", errors.New("the commit message is empty")
	}
	text += "\n\n"
	for _, line := range trailers {
		if strings.ContainsAny(line, "\n\r\x00") {
			return "", fmt.Errorf("trailer %q has a line ending", line)
		}
		text += line + "\n"
	}
	return text, nil
}

func imitatesTrailer(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return strings.HasPrefix(line, strings.ToLower(work.TrailerTurn)+":") ||
		strings.HasPrefix(line, strings.ToLower(work.TrailerHandled)+":")
}

// Partial describes the unfinished work of a turn.
type Partial struct {
	Key        string // required; the turn key
	Dir, Index string // required; as in Commit
	Parent     string // required
	Date       time.Time
}

// maxPartialBytes keeps core dumps out of partial work.
const maxPartialBytes = 10 << 20

// KeepPartial stores the changes in the checkout of an unfinished turn as
// refs/mergexo/partial/<key>. They are for reading and never pushed, so the gates do not apply; the
// agent's nested repositories are dropped. It returns "" if nothing changed. A replaced checkout,
// or one whose ignore files are not regular files, is a *RefusedError: git would read elsewhere or
// block for ever.
func (m *Mirror) KeepPartial(ctx context.Context, p Partial) (string, error) {
	if err := checkKey(p.Key); err != nil {
		return "", fmt.Errorf("keep partial work: %w", err)
	}
	if err := checkCheckout(p.Dir); err != nil {
		return "", fmt.Errorf("keep partial work: %w", err)
	}
	if err := removeNested(p.Dir); err != nil {
		return "", fmt.Errorf("keep partial work: %w", err)
	}
	var oid string
	err := m.inQuarantine(ctx, "tree "+p.Index, func(q *quarantine) error {
		index, err := m.copyIndex(ctx, Commit{Dir: p.Dir, Index: p.Index, Parents: []string{p.Parent}}, q)
		if err != nil {
			return err
		}
		tree, err := m.partialTree(ctx, p, index, q)
		if err != nil {
			return err
		}
		before, err := m.treeOf(ctx, p.Parent)
		if err != nil || tree == before {
			return err
		}
		oid, err = m.writeCommit(ctx, rawCommit{
			tree: tree, parents: []string{p.Parent}, message: "Partial work of turn " + p.Key + "\n", date: stamp(p.Date),
			author: local, in: q, signing: unsigned,
		})
		return err
	})
	if err == nil && oid != "" {
		err = m.setPartial(ctx, p.Key, oid)
	}
	if err != nil {
		return "", fmt.Errorf("keep partial work: %w", err)
	}
	return oid, nil
}

// partialTree writes the tree of the files that can be kept.
func (m *Mirror) partialTree(ctx context.Context, p Partial, index string, q *quarantine) (string, error) {
	if err := dropLeftovers(ctx, m, p.Dir, index); err != nil {
		return "", err
	}
	paths, err := changedPaths(ctx, m, p.Dir, index)
	if err != nil {
		return "", err
	}
	var list strings.Builder
	for _, path := range paths {
		info, err := os.Lstat(filepath.Join(p.Dir, filepath.FromSlash(path)))
		if err == nil && (info.Mode().IsRegular() && info.Size() > maxPartialBytes || info.Mode()&irregular != 0) {
			continue
		}
		list.WriteString(path + "\x00")
	}
	if list.Len() > 0 {
		add := m.checkoutCommand(p.Dir, index, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul")
		add.Stdin = []byte(list.String())
		if err := addToIndex(ctx, q, add); err != nil {
			return "", err
		}
	}
	write := q.command("write-tree")
	write.Index = index
	return write.text(ctx)
}
