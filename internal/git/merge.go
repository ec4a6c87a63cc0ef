package git

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// Merge is the result of merging two commits; files in conflict have conflict markers.
type Merge struct {
	Into  string   // the commit that was merged into
	Other string   // the commit that was merged
	Tree  string   // all files
	Paths []string // paths in conflict; empty for a clean merge
	Log   string   // the CONFLICT messages

	stages []string // index entries of the paths in conflict, in the format of update-index
}

// Clean reports whether there are no conflicts.
func (g Merge) Clean() bool { return len(g.Paths) == 0 }

// Merge merges other into into within the mirror. Conflicts are no error.
func (m *Mirror) Merge(ctx context.Context, into, other string) (Merge, error) {
	out := Merge{Into: into, Other: other}
	for _, oid := range []string{into, other} {
		if !m.Has(ctx, oid) {
			return Merge{}, fmt.Errorf("merge: %w", &MissingError{OID: oid})
		}
	}
	err := m.inQuarantine(ctx, "merge "+into+" "+other, func(q *quarantine) error {
		c := q.command("merge-tree", "--write-tree", "-z", "--messages", into, other)
		c.Answers = []int{1}
		res, err := c.Run(ctx)
		if err != nil {
			return err
		}
		return out.read(string(res.Stdout))
	})
	if err != nil {
		return Merge{}, fmt.Errorf("merge: %w", err)
	}
	return out, nil
}

// read parses the output of merge-tree: the tree, the stages of files in conflict, an empty field,
// and messages. Each message is a count of paths, the paths, a kind and a text.
func (g *Merge) read(out string) error {
	parts := strings.Split(out, "\x00")
	if !validOID(parts[0]) {
		return fmt.Errorf("read merge: %q", out)
	}
	g.Tree, parts = parts[0], parts[1:]
	for len(parts) > 0 && parts[0] != "" {
		_, path, ok := strings.Cut(parts[0], "\t")
		if !ok {
			return fmt.Errorf("read merge: %q", parts[0])
		}
		g.stages = append(g.stages, parts[0])
		if !slices.Contains(g.Paths, path) {
			g.Paths = append(g.Paths, path)
		}
		parts = parts[1:]
	}
	var said strings.Builder
	for _, p := range parts {
		if strings.HasPrefix(p, "CONFLICT (") && strings.Contains(p, "):") {
			said.WriteString(strings.TrimRight(p, "\n") + "\n")
		}
	}
	g.Log = said.String()
	return nil
}

// markConflicts marks the paths in conflict in the agent's own index, as git does during a merge.
func markConflicts(ctx context.Context, m *Mirror, r Restore, index string) error {
	var in strings.Builder
	for _, path := range r.Merge.Paths {
		fmt.Fprintf(&in, "0 %s\t%s\x00", strings.Repeat("0", len(r.Merge.Tree)), path)
	}
	for _, stage := range r.Merge.stages {
		in.WriteString(stage + "\x00")
	}
	own := filepath.Join(filepath.Dir(r.Index), filepath.Base(r.Index)+".merge") // git puts its lock beside it
	if err := files.Copy(index, own, 0o600); err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	defer func() { _ = files.Remove(own) }()
	c := m.command("update-index", "-z", "--index-info")
	c.Index, c.Stdin = own, []byte(in.String())
	if _, err := c.Run(ctx); err != nil {
		return fmt.Errorf("make the agent's repository: %w", err)
	}
	return files.Copy(own, index, 0o644)
}

// replayChange applies the change between two trees to a third one. clean is false if it conflicts.
// New objects go to the quarantine.
func replayChange(ctx context.Context, q *quarantine, from, to, onto string) (tree string, clean bool, err error) {
	switch {
	case from == to, to == onto:
		return onto, true, nil
	case from == onto:
		return to, true, nil
	}
	// merge-tree computes the merge base itself (only from git 2.40 on can it be given one), so
	// each tree gets a commit.
	base, err := makeCommit(ctx, q, from)
	if err != nil {
		return "", false, err
	}
	ours, err := makeCommit(ctx, q, onto, "-p", base)
	if err != nil {
		return "", false, err
	}
	theirs, err := makeCommit(ctx, q, to, "-p", base)
	if err != nil {
		return "", false, err
	}
	return mergeTree(ctx, q, ours, theirs)
}

// makeCommit makes a commit of a tree, only for merge-tree.
func makeCommit(ctx context.Context, q *quarantine, tree string, parents ...string) (string, error) {
	c := q.command(append([]string{"commit-tree", tree}, parents...)...)
	c.Stdin = []byte("side\n")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.Env = append(c.Env, "GIT_"+who+"_NAME=side", "GIT_"+who+"_EMAIL=side@localhost", "GIT_"+who+"_DATE=@0 +0000")
	}
	return c.text(ctx)
}

func mergeTree(ctx context.Context, q *quarantine, ours, theirs string) (tree string, clean bool, err error) {
	c := q.command("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil || res.Code == 1 {
		return "", false, err
	}
	parts := splitFields(res.Stdout)
	if len(parts) == 0 || !validOID(parts[0]) {
		return "", false, fmt.Errorf("read merge: %q", res.Stdout)
	}
	return parts[0], true, nil
}
