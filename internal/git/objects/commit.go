package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Commit is a commit object, signatures left out.
type Commit struct {
	OID     string
	Tree    string
	Parents []string
	Author  string // Name <email> seconds zone
	Recoded bool   // it says in which encoding its message is
	Message string
}

// Commit reads a commit.
func (r *Reader) Commit(ctx context.Context, oid string) (Commit, error) {
	content, err := r.Content(ctx, Object{OID: oid, Kind: "commit"})
	if err != nil {
		return Commit{}, fmt.Errorf("read commit: %w", err)
	}
	head, message, _ := strings.Cut(string(content), "\n\n")
	c := Commit{OID: oid, Message: message}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author = value
		case "encoding":
			c.Recoded = true
		}
	}
	return c, nil
}

// Line are the commits from one back to another, which is left out, newest first, where
// each has one parent. Not whole: the other is not among the most ones, or a merge is.
func (r *Reader) Line(ctx context.Context, from, to string, most int) (commits []Commit, whole bool, err error) {
	for at := to; at != from; {
		if len(commits) == most {
			return nil, false, nil
		}
		c, err := r.Commit(ctx, at)
		if err != nil || len(c.Parents) != 1 {
			return nil, false, err
		}
		commits, at = append(commits, c), c.Parents[0]
	}
	return commits, true, nil
}

// Follows reports whether a commit is another one, or has it as a parent.
func (r *Reader) Follows(ctx context.Context, oid, other string) (bool, error) {
	if oid == other {
		return true, nil
	}
	c, err := r.Commit(ctx, oid)
	return slices.Contains(c.Parents, other), err
}
