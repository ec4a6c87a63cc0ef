package git

import (
	"context"
	"fmt"
	"strings"
)

// Replayed is the result of Replay.
type Replayed struct {
	OID      string // "" when Empty or Conflict
	Empty    bool   // the new parent already contains the change
	Conflict bool
}

// Replay applies the commit's change to onto, in the mirror, and keeps its message, author and
// date. A merge commit counts as a conflict, because it has no single change.
func (m *Mirror) Replay(ctx context.Context, oid, onto string) (Replayed, error) {
	old, err := m.readCommit(ctx, oid)
	if err != nil {
		return Replayed{}, fmt.Errorf("replay: %w", err)
	}
	if !m.Has(ctx, onto) {
		return Replayed{}, fmt.Errorf("replay: %w", &MissingError{OID: onto})
	}
	switch {
	case len(old.parents) != 1:
		return Replayed{Conflict: true}, nil
	case old.parents[0] == onto:
		return Replayed{OID: oid}, nil
	}
	var out Replayed
	err = m.inQuarantine(ctx, "replay "+oid+" "+onto, func(q *quarantine) error {
		tree, clean, err := m.mergeTree(ctx, old, oid, onto, q)
		if err != nil || !clean {
			out.Conflict = !clean
			return err
		}
		before, err := m.treeOf(ctx, onto)
		if err != nil {
			return err
		}
		if tree == before {
			out.Empty = true
			return nil
		}
		old.tree, old.parents, old.in = tree, []string{onto}, q
		out.OID, err = m.writeCommit(ctx, old)
		return err
	})
	if err != nil {
		return Replayed{}, fmt.Errorf("replay: %w", err)
	}
	return out, nil
}

// mergeTree applies the change between the commit and its parent to onto's tree. merge-tree
// computes the merge base itself (only from git 2.40 on can it be given one), so onto's tree gets a
// commit whose parent is the commit's.
func (m *Mirror) mergeTree(ctx context.Context, old rawCommit, oid, onto string, q *quarantine) (tree string, clean bool, err error) {
	before, err := m.treeOf(ctx, onto)
	if err != nil {
		return "", false, err
	}
	side, err := m.writeCommit(ctx, rawCommit{
		tree: before, parents: old.parents, message: "side\n", author: old.author, date: old.date, in: q, signing: unsigned,
	})
	if err != nil {
		return "", false, err
	}
	c := q.command("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", side, oid)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil {
		return "", false, err
	}
	if res.Code == 1 {
		return "", false, nil
	}
	parts := splitFields(res.Stdout)
	if len(parts) == 0 || !validOID(parts[0]) {
		return "", false, fmt.Errorf("read merge: %q", res.Stdout)
	}
	return parts[0], true, nil
}

// readCommit reads a commit without its signatures.
func (m *Mirror) readCommit(ctx context.Context, oid string) (rawCommit, error) {
	if !m.Has(ctx, oid) {
		return rawCommit{}, &MissingError{OID: oid}
	}
	c, err := m.objects.Commit(ctx, oid)
	if err != nil {
		return rawCommit{}, err
	}
	author, date := authorOf(c)
	return rawCommit{tree: c.Tree, parents: c.Parents, message: c.Message, author: author, date: "@" + date, signing: asOperator}, nil
}

// authorOf returns a commit's author and the author date as seconds and zone.
func authorOf(c commitObject) (who Identity, date string) {
	name, rest, _ := strings.Cut(c.Author, " <")
	email, date, _ := strings.Cut(rest, "> ")
	return Identity{Name: name, Email: email}, date
}
