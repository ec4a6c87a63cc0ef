package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The ways in which a head reaches its base, as GitHub names its methods of merging.
// Pushed is for what is on the base without a commit of a merge: the head itself.
const (
	Squash = "squash"
	Merged = "merge"
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

// Compare holds a landed commit against what merging head into its parent gives. base is
// where the base branch stood when the merge was decided, "" if nobody knows. All of them
// must have been fetched; a landed commit that is not there is a *MissingError.
func (m *Mirror) Compare(ctx context.Context, landed, head, base string) (Landing, error) {
	out := Landing{}
	err := m.onBench("compare "+landed+" "+head, func(b bench) error {
		c, err := b.commit(ctx, landed)
		if err != nil {
			return err
		}
		if !m.Has(ctx, head) {
			return &MissingError{OID: head}
		}
		out, err = b.compare(ctx, c, head, base)
		return err
	})
	if err != nil {
		return Landing{}, fmt.Errorf("compare what landed: %w", err)
	}
	return out, nil
}

func (b bench) compare(ctx context.Context, c comparedCommit, head, base string) (Landing, error) {
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
func (b bench) compareMerge(ctx context.Context, out *Landing, c comparedCommit, head string) error {
	out.Method = Merged
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
	if oid == "" || !b.q.mirror.Has(ctx, other) {
		return false, nil
	}
	return b.q.mirror.IsAncestor(ctx, other, oid)
}

// bench is where trees are made to be looked at.
type bench struct{ q *quarantine }

// onBench runs do with a scratch place for objects.
func (m *Mirror) onBench(name string, do func(bench) error) error {
	return m.withScratch(name, func(q *quarantine) error { return do(bench{q}) })
}

// comparedCommit has the parts of a commit that are compared.
type comparedCommit struct {
	oid, tree string
	parents   []string
	author    string // name, address, date
	message   string
}

// sign is what a rebase leaves of a commit.
func (c comparedCommit) sign() string { return c.author + "\x00" + c.message }

func signedBy(series []comparedCommit, c comparedCommit) bool {
	for _, s := range series {
		if s.sign() == c.sign() && len(c.parents) <= 1 {
			return true
		}
	}
	return false
}

// commits lists commits as git's log selects them, newest first; none is before what it
// stands on.
func (b bench) commits(ctx context.Context, args ...string) ([]comparedCommit, error) {
	call := b.q.command("log", "-z", "--topo-order", "--date=raw", "--format=%H%n%T%n%P%n%an <%ae> %ad%n%B")
	call.Args = append(call.Args, args...)
	call.Args = append(call.Args, "--")
	records, err := call.Fields(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]comparedCommit, 0, len(records))
	for _, record := range records {
		f := strings.SplitN(record, "\n", 5)
		if len(f) != 5 {
			return nil, fmt.Errorf("read commits: %q", record)
		}
		all = append(all, comparedCommit{oid: f[0], tree: f[1], parents: strings.Fields(f[2]), author: f[3], message: trimLines(f[4])})
	}
	return all, nil
}

// trimLines is a message without blanks at the ends of lines, which not every tool leaves.
func trimLines(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

func (b bench) commit(ctx context.Context, oid string) (comparedCommit, error) {
	if !b.q.mirror.Has(ctx, oid) {
		return comparedCommit{}, &MissingError{OID: oid}
	}
	found, err := b.commits(ctx, "--max-count=1", oid)
	if err == nil && len(found) != 1 {
		err = &MissingError{OID: oid}
	}
	if err != nil {
		return comparedCommit{}, err
	}
	return found[0], nil
}

// series are the commits that a head has and a base has not, oldest first. Merges are no
// change of their own.
func (b bench) series(ctx context.Context, base, head string) ([]comparedCommit, error) {
	return b.commits(ctx, "--reverse", "--no-merges", head, "^"+base)
}

// unrelatedSigns is what git says of two histories without a common beginning.
var unrelatedSigns = []string{"refusing to merge unrelated histories"}

// merge is the tree of a merge of two commits. Histories that have nothing in common do
// not merge.
func (b bench) merge(ctx context.Context, into, other string) (tree string, clean bool, err error) {
	tree, clean, err = mergeTree(ctx, b.q, into, other)
	if failed, ok := errors.AsType[*CommandError](err); ok && failed.Says(unrelatedSigns) {
		return "", false, nil
	}
	return tree, clean, err
}

// paths are those in which two trees differ.
func (b bench) paths(ctx context.Context, from, to string) ([]string, error) {
	all, err := b.q.command("diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to).Fields(ctx)
	return all[:min(len(all), mostPaths)], err
}

// compareSeries is for the last commit of a rebase. Those before it are found by the way
// back, as far as they are the head's; what of the head's commits is not among them must
// have nothing to change there.
func (b bench) compareSeries(ctx context.Context, out *Landing, series []comparedCommit, base string) error {
	chain, err := b.chain(ctx, out.OID, base, len(series))
	if err != nil {
		return err
	}
	landed := pairSeries(series, chain)
	out.Method, out.Series = Rebase, len(landed)
	first := chain[out.Series-1]
	if out.Parent = ""; len(first.parents) > 0 {
		out.Parent = first.parents[0]
	}
	before, err := b.q.mirror.treeOf(ctx, out.Parent)
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
func (b bench) chain(ctx context.Context, landed, base string, most int) ([]comparedCommit, error) {
	args := []string{"--first-parent", "--max-count=" + strconv.Itoa(most), landed}
	if before, err := b.contains(ctx, landed, base); err != nil {
		return nil, err
	} else if before && base != landed {
		args = append(args, "^"+base)
	}
	return b.commits(ctx, args...)
}

// pairSeries finds the commits of a series, oldest first, on the way back from a landed one,
// newest first: by the index in the series. The landed one is one of them.
func pairSeries(series, chain []comparedCommit) map[int]comparedCommit {
	landed := map[int]comparedCommit{}
	for i, c := range slices.Backward(series) {
		if len(chain) > 0 && len(chain[0].parents) <= 1 && chain[0].sign() == c.sign() {
			landed[i], chain = chain[0], chain[1:]
		}
	}
	return landed
}

// replay makes the changes of a series one after the other on a tree; it says which tree
// each gives.
func (b bench) replay(ctx context.Context, series []comparedCommit, tree string) (steps []string, clean bool, err error) {
	for _, c := range series {
		from := ""
		if len(c.parents) > 0 {
			from = c.parents[0]
		}
		before, err := b.q.mirror.treeOf(ctx, from)
		if err != nil {
			return nil, false, err
		}
		tree, clean, err = replayChange(ctx, b.q, before, c.tree, tree)
		if err != nil || !clean {
			return nil, false, err
		}
		steps = append(steps, tree)
	}
	return steps, true, nil
}
