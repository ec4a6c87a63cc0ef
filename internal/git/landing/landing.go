// Package landing says what merging must give, looks for what landed of it on a base, and
// compares the two. It only looks: what it makes on the way never enters the mirror.
package landing

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// The ways in which a head reaches its base, as GitHub names its methods of merging.
// Pushed is for what is on the base without a commit of a merge: the head itself.
const (
	Squash = "squash"
	Merge  = "merge"
	Rebase = "rebase"
	Pushed = "pushed"
)

// Kinds of difference between what landed and what merging gives.
const (
	OtherBase    = "base"     // the base as it was is not among what the commit stands on
	OtherHead    = "head"     // a merge of something else than the head
	OtherTree    = "tree"     // the files differ
	OtherSeries  = "series"   // not the head's commits, one after the other, each with its own change
	NotMergeable = "conflict" // the head does not merge there without a person: nobody can say what it gives
)

// Landing is a commit that brought a head to its base, beside what it must be.
type Landing struct {
	OID    string // the last commit that landed
	Method string // as the commit itself tells: Squash, Merge, Rebase or Pushed
	Parent string // what the base was before: the landed commit's parent, of a series the first one's
	Want   string // the tree that merging the head into Parent gives; "" where NotMergeable
	Got    string // the tree that landed
	Series int    // how many commits landed
	Same   bool
	Why    string   // the kind of difference, "" when Same
	Paths  []string // those in which the trees differ, at most mostPaths
}

// mostPaths is as many as a person reads.
const mostPaths = 100

// Landings compares what was merged with what was to be merged, in a mirror.
type Landings struct{ mirror *mirror.Mirror }

// Of are the landings in a mirror.
func Of(m *mirror.Mirror) Landings { return Landings{m} }

// Compare holds a landed commit against what merging head into its parent gives. base is
// where the base branch stood when the merge was decided, "" if nobody knows. All of them
// must have been fetched; a landed commit that is not there is a *mirror.MissingError.
func (l Landings) Compare(ctx context.Context, landed, head, base string) (Landing, error) {
	out := Landing{}
	err := l.aside("compare "+landed+" "+head, func(b bench) error {
		c, err := b.commit(ctx, landed)
		if err != nil {
			return err
		}
		if !l.mirror.Has(ctx, head) {
			return &mirror.MissingError{OID: head}
		}
		out, err = b.compare(ctx, c, head, base)
		return err
	})
	if err != nil {
		return Landing{}, fmt.Errorf("compare what landed: %w", err)
	}
	return out, nil
}

func (b bench) compare(ctx context.Context, c commit, head, base string) (Landing, error) {
	out := Landing{OID: c.oid, Got: c.tree, Series: 1}
	if len(c.parents) > 0 {
		out.Parent = c.parents[0]
	}
	series, err := b.series(ctx, c.oid, head)
	if err != nil {
		return Landing{}, err
	}
	switch {
	case c.oid == head:
		err = b.comparePushed(ctx, &out, base)
	case len(c.parents) > 1:
		err = b.compareMerge(ctx, &out, c, head)
	case signedBy(series, c):
		err = b.compareSeries(ctx, &out, series, base)
	default:
		out.Method = Squash
		err = b.compareTrees(ctx, &out, head)
	}
	if err != nil {
		return Landing{}, err
	}
	if err := b.compareBase(ctx, &out, base); err != nil {
		return Landing{}, err
	}
	out.Same = out.Why == ""
	if out.Want != "" && out.Want != out.Got {
		out.Paths, err = b.paths(ctx, out.Want, out.Got)
	}
	return out, err
}

// comparePushed is for a head that is on the base as it is: it stands on the base as it
// was, or on another one.
func (b bench) comparePushed(ctx context.Context, out *Landing, base string) error {
	out.Method, out.Want = Pushed, out.Got
	if base == "" {
		return nil
	}
	ours, err := b.contains(ctx, out.OID, base)
	if ours {
		out.Parent = base
	}
	return err
}

// compareMerge is for a merge commit: the base first, the head second, and nothing else.
func (b bench) compareMerge(ctx context.Context, out *Landing, c commit, head string) error {
	out.Method = Merge
	if len(c.parents) != 2 || c.parents[1] != head {
		out.Why = OtherHead
	}
	return b.compareTrees(ctx, out, head)
}

// compareTrees is for one commit with all that merging brings.
func (b bench) compareTrees(ctx context.Context, out *Landing, head string) error {
	if out.Parent == "" {
		return nil // a beginning has no base: compareBase says so
	}
	tree, clean, err := b.merge(ctx, out.Parent, head)
	out.Want = tree
	out.differs(clean)
	return err
}

// differs says how the trees differ, unless a difference is known that says more.
func (out *Landing) differs(clean bool) {
	switch {
	case out.Why != "":
	case !clean:
		out.Why = NotMergeable
	case out.Want != out.Got:
		out.Why = OtherTree
	}
}

// compareBase looks for the base as it was among what the landed commit stands on. What
// landed elsewhere is that first, whatever its files are, unless it is another head.
func (b bench) compareBase(ctx context.Context, out *Landing, base string) error {
	if out.Parent == "" && out.Method != Pushed {
		out.Why = OtherBase
		return nil
	}
	if base == "" || out.Why == OtherHead {
		return nil
	}
	on, err := b.contains(ctx, out.Parent, base)
	if err == nil && !on {
		out.Why = OtherBase
	}
	return err
}

// contains reports whether a commit has another one in its history. One that is not in the
// mirror is in the history of none that is.
func (b bench) contains(ctx context.Context, oid, other string) (bool, error) {
	if oid == "" || !b.q.Mirror().Has(ctx, other) {
		return false, nil
	}
	return b.q.Mirror().IsAncestor(ctx, other, oid)
}
