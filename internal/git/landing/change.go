package landing

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// Change makes the change between two trees on a third one; not clean where it conflicts.
// What it makes is in the quarantine.
func Change(ctx context.Context, q *mirror.Quarantine, from, to, onto string) (tree string, clean bool, err error) {
	switch {
	case from == to, to == onto:
		return onto, true, nil
	case from == onto:
		return to, true, nil
	}
	// merge-tree finds what two commits have in common by itself (it can be told from git
	// 2.40 on): so the trees are given commits.
	base, err := hold(ctx, q, from)
	if err != nil {
		return "", false, err
	}
	ours, err := hold(ctx, q, onto, "-p", base)
	if err != nil {
		return "", false, err
	}
	theirs, err := hold(ctx, q, to, "-p", base)
	if err != nil {
		return "", false, err
	}
	return mergeTree(ctx, q, ours, theirs)
}

// hold makes a commit of a tree that is for merge-tree alone.
func hold(ctx context.Context, q *mirror.Quarantine, tree string, parents ...string) (string, error) {
	c := q.Call(append([]string{"commit-tree", tree}, parents...)...)
	c.Stdin = []byte("side\n")
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.Env = append(c.Env, "GIT_"+who+"_NAME=side", "GIT_"+who+"_EMAIL=side@localhost", "GIT_"+who+"_DATE=@0 +0000")
	}
	return c.Text(ctx)
}

func mergeTree(ctx context.Context, q *mirror.Quarantine, ours, theirs string) (tree string, clean bool, err error) {
	c := q.Call("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
	c.Answers = []int{1}
	res, err := c.Run(ctx)
	if err != nil || res.Code == 1 {
		return "", false, err
	}
	parts := plumbing.Fields(res.Stdout)
	if len(parts) == 0 || !mirror.ValidOID(parts[0]) {
		return "", false, fmt.Errorf("read merge: %q", res.Stdout)
	}
	return parts[0], true, nil
}
