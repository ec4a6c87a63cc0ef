package githubsim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Removed is the content of a file that a commit takes away.
const Removed = "\x00removed"

// scratchRef holds a commit while it is made.
const scratchRef = "refs/hub/commit"

// commitFiles makes a commit that changes the given files of parent ("" for a first commit),
// without a checkout.
func (g *gitDir) commitFiles(parent string, files map[string]string, message string, by signature) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "reset %s\n\ncommit %s\nmark :1\n", scratchRef, scratchRef)
	who := fmt.Sprintf("%s <%s> %d +0000", by.name, by.email, by.at.Unix())
	fmt.Fprintf(&b, "author %s\ncommitter %s\ndata %d\n%s\n", who, who, len(message), message)
	if parent != "" {
		fmt.Fprintf(&b, "from %s\n", parent)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if content := files[path]; content == Removed {
			fmt.Fprintf(&b, "D %s\n", quotePath(path))
		} else {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quotePath(path), len(content), content)
		}
	}
	fmt.Fprintf(&b, "get-mark :1\nreset %s\nfrom %s\n\ndone\n", scratchRef, zeroOID) // which takes the ref away again
	oid, err := g.feed(b.String(), "fast-import", "--quiet", "--force", "--done")
	if err != nil {
		return "", fmt.Errorf("make a commit: %w", err)
	}
	return oid, nil
}

// quotePath is git's C-style quoting, so that any path can be written.
func quotePath(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// commitTree makes a commit of a tree.
func (g *gitDir) commitTree(tree string, parents []string, message string, author, committer signature) (string, error) {
	args := []string{"--git-dir=" + g.dir, "commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	env := []string{
		"GIT_AUTHOR_NAME=" + author.name, "GIT_AUTHOR_EMAIL=" + author.email, "GIT_AUTHOR_DATE=" + gitDate(author),
		"GIT_COMMITTER_NAME=" + committer.name, "GIT_COMMITTER_EMAIL=" + committer.email, "GIT_COMMITTER_DATE=" + gitDate(committer),
	}
	out, err := g.exec(env, message, args...)
	return strings.TrimSpace(string(out)), err
}

func gitDate(s signature) string { return "@" + strconv.FormatInt(s.at.Unix(), 10) + " +0000" }

// merge is what merging two commits gives.
type merge struct {
	tree  string
	clean bool
}

// mergeTree merges two commits without touching a branch.
func (g *gitDir) mergeTree(ours, theirs string) (merge, error) {
	return cached(g, "merge "+ours+" "+theirs, func() (merge, error) {
		out, err := g.run("merge-tree", "--write-tree", "--no-messages", ours, theirs)
		tree, _, _ := strings.Cut(out, "\n")
		if err != nil && exitCode(err) != 1 && !isUnrelated(err) {
			return merge{}, err
		}
		return merge{tree: tree, clean: err == nil}, nil
	})
}

func isUnrelated(err error) bool {
	return strings.Contains(err.Error(), "unrelated histories")
}

// replay puts the commits of base..head that are no merges onto another commit; clean is false when
// one of them conflicts.
func (g *gitDir) replay(onto, head string, committer signature) (oid string, clean bool, err error) {
	list, err := g.between(onto, head)
	if err != nil {
		return "", false, err
	}
	oid = onto
	for _, c := range slices.Backward(list) {
		if len(c.parents) != 1 {
			continue
		}
		// merge-tree has no --merge-base before git 2.40: a commit of oid's tree on c's parent
		// makes that parent the base.
		stand, err := g.commitTree(oid+"^{tree}", c.parents, "stand-in", committer, committer)
		if err != nil {
			return "", false, err
		}
		m, err := g.mergeTree(stand, c.oid)
		if err != nil || !m.clean {
			return "", false, err
		}
		if oid, err = g.commitTree(m.tree, []string{oid}, c.message, c.author, committer); err != nil {
			return "", false, err
		}
	}
	return oid, true, nil
}
