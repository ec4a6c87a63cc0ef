package landing

import (
	"context"
	"slices"
	"strconv"
)

// compareSeries is for the last commit of a rebase. Those before it are found by the way
// back, as far as they are the head's; what of the head's commits is not among them must
// have nothing to change there.
func (b bench) compareSeries(ctx context.Context, out *Landing, series []commit, base string) error {
	chain, err := b.chain(ctx, out.OID, base, len(series))
	if err != nil {
		return err
	}
	landed := pair(series, chain)
	out.Method, out.Series = Rebase, len(landed)
	first := chain[out.Series-1]
	if out.Parent = ""; len(first.parents) > 0 {
		out.Parent = first.parents[0]
	}
	before, err := b.q.Mirror().Tree(ctx, out.Parent)
	if err != nil {
		return err
	}
	steps, clean, err := b.replay(ctx, series, before)
	if err != nil || !clean {
		out.differs(clean)
		return err
	}
	out.Want = steps[len(steps)-1]
	for i, step := range steps {
		if c, ok := landed[i]; ok && c.tree != step {
			out.Why = OtherSeries
		} else if !ok && step != before {
			out.Why = OtherSeries
		}
		before = step
	}
	if out.Why != "" && len(landed) == len(series) && out.Want != out.Got {
		out.Why = "" // all of them are there, and their files are others
	}
	out.differs(true)
	return nil
}

// chain is the way back from a landed commit, at most as far as the base as it was: that
// may end with a copy of the head's first commit.
func (b bench) chain(ctx context.Context, landed, base string, most int) ([]commit, error) {
	args := []string{"--first-parent", "--max-count=" + strconv.Itoa(most), landed}
	if before, err := b.contains(ctx, landed, base); err != nil {
		return nil, err
	} else if before && base != landed {
		args = append(args, "^"+base)
	}
	return b.commits(ctx, args...)
}

// pair finds the commits of a series, oldest first, on the way back from a landed one,
// newest first: by the index in the series. The landed one is one of them.
func pair(series, chain []commit) map[int]commit {
	landed := map[int]commit{}
	for i, c := range slices.Backward(series) {
		if len(chain) > 0 && len(chain[0].parents) <= 1 && chain[0].sign() == c.sign() {
			landed[i], chain = chain[0], chain[1:]
		}
	}
	return landed
}

// replay makes the changes of a series one after the other on a tree; it says which tree
// each gives.
func (b bench) replay(ctx context.Context, series []commit, tree string) (steps []string, clean bool, err error) {
	for _, c := range series {
		from := ""
		if len(c.parents) > 0 {
			from = c.parents[0]
		}
		before, err := b.q.Mirror().Tree(ctx, from)
		if err != nil {
			return nil, false, err
		}
		tree, clean, err = Change(ctx, b.q, before, c.tree, tree)
		if err != nil || !clean {
			return nil, false, err
		}
		steps = append(steps, tree)
	}
	return steps, true, nil
}
