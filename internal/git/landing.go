package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Methods by which a head reaches its base, named as GitHub names its merge methods. Pushed means
// that the head itself is on the base, without a merge.
const (
	Squash = "squash"
	Merged = "merge"
	Rebase = "rebase"
	Pushed = "pushed"
)

// Differences between the landed commit and the expected result of the merge.
const (
	OtherBase    = "base"     // the landed commit does not descend from the previous base
	OtherHead    = "head"     // the merge commit has another second parent than the head
	OtherTree    = "tree"     // the files differ
	OtherSeries  = "series"   // the landed commits are not the head's commits in order, each with its own change
	NotMergeable = "conflict" // the head conflicts with the landed commit's parent, so that the expected tree is unknown
)

// Landing compares a commit that landed on the base with the expected result of merging the head.
type Landing struct {
	OID    string // the last commit that landed
	Method string // inferred from the commit: Squash, Merged, Rebase or Pushed
	Parent string // the previous base: the parent of the landed commit, or of the first one of a rebase
	Want   string // the tree of a merge of the head into Parent; "" for NotMergeable
	Got    string // the tree that landed
	Series int    // how many commits landed
	Same   bool
	Why    string   // the kind of difference, "" when Same
	Paths  []string // paths that differ between Want and Got, at most mostPaths
}

// mostPaths limits Landing.Paths to a number that a person can read.
const mostPaths = 100

// Compare compares a landed commit with the result of merging head into its parent. base is the tip
// of the base branch when the merge was decided, "" if unknown. All three must have been fetched;
// if landed or head is missing, the error is a *MissingError.
func (m *Mirror) Compare(ctx context.Context, landed, head, base string) (Landing, error) {
	out := Landing{}
	err := m.withComparer("compare "+landed+" "+head, func(b treeComparer) error {
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

func (b treeComparer) compare(ctx context.Context, c comparedCommit, head, base string) (Landing, error) {
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
	case seriesHas(series, c):
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

// comparePushed handles a head that was pushed to the base. If base is an ancestor of it, base
// becomes the parent.
func (b treeComparer) comparePushed(ctx context.Context, out *Landing, base string) error {
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

// compareMerge handles a merge commit. It must have two parents: the base, then the head.
func (b treeComparer) compareMerge(ctx context.Context, out *Landing, c comparedCommit, head string) error {
	out.Method = Merged
	if len(c.parents) != 2 || c.parents[1] != head {
		out.Why = OtherHead
	}
	return b.compareTrees(ctx, out, head)
}

// compareTrees compares a single commit with the tree of the whole merge.
func (b treeComparer) compareTrees(ctx context.Context, out *Landing, head string) error {
	if out.Parent == "" {
		return nil // a root commit has no base; compareBase reports it
	}
	tree, clean, err := b.merge(ctx, out.Parent, head)
	out.Want = tree
	out.differs(clean)
	return err
}

// differs sets Why from the trees, unless a more specific difference is already set.
func (out *Landing) differs(clean bool) {
	switch {
	case out.Why != "":
	case !clean:
		out.Why = NotMergeable
	case out.Want != out.Got:
		out.Why = OtherTree
	}
}

// compareBase checks that the landed commit descends from base. OtherBase overrides every other
// difference except OtherHead.
func (b treeComparer) compareBase(ctx context.Context, out *Landing, base string) error {
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

// contains reports whether other is an ancestor of oid. A commit that is not in the mirror is an
// ancestor of none that is.
func (b treeComparer) contains(ctx context.Context, oid, other string) (bool, error) {
	if oid == "" || !b.q.mirror.Has(ctx, other) {
		return false, nil
	}
	return b.q.mirror.IsAncestor(ctx, other, oid)
}

// treeComparer compares trees in a quarantine.
type treeComparer struct{ q *quarantine }

// withComparer runs do with a treeComparer whose new objects are discarded afterwards.
func (m *Mirror) withComparer(name string, do func(treeComparer) error) error {
	return m.withScratch(name, func(q *quarantine) error { return do(treeComparer{q}) })
}

// comparedCommit has the parts of a commit that are compared.
type comparedCommit struct {
	oid, tree string
	parents   []string
	author    string // name, address, date
	message   string
}

// rebaseKey returns the parts of a commit that a rebase keeps.
func (c comparedCommit) rebaseKey() string { return c.author + "\x00" + c.message }

func seriesHas(series []comparedCommit, c comparedCommit) bool {
	for _, s := range series {
		if s.rebaseKey() == c.rebaseKey() && len(c.parents) <= 1 {
			return true
		}
	}
	return false
}

// commits runs git log with the arguments, newest first. Children come before their parents.
func (b treeComparer) commits(ctx context.Context, args ...string) ([]comparedCommit, error) {
	call := b.q.command("log", "-z", "--topo-order", "--date=raw", "--format=%H%n%T%n%P%n%an <%ae> %ad%n%B")
	call.Args = append(call.Args, args...)
	call.Args = append(call.Args, "--")
	records, err := call.fields(ctx)
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

// trimLines removes trailing blanks from each line of a message, because not every tool keeps them.
func trimLines(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

func (b treeComparer) commit(ctx context.Context, oid string) (comparedCommit, error) {
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

// series returns the commits of head that base lacks, oldest first, without merges.
func (b treeComparer) series(ctx context.Context, base, head string) ([]comparedCommit, error) {
	return b.commits(ctx, "--reverse", "--no-merges", head, "^"+base)
}

// unrelatedSigns are git's messages for two histories without a common ancestor.
var unrelatedSigns = []string{"refusing to merge unrelated histories"}

// merge returns the tree of merging two commits. Unrelated histories count as a conflict.
func (b treeComparer) merge(ctx context.Context, into, other string) (tree string, clean bool, err error) {
	tree, clean, err = mergeTree(ctx, b.q, into, other)
	if failed, ok := errors.AsType[*CommandError](err); ok && failed.Says(unrelatedSigns) {
		return "", false, nil
	}
	return tree, clean, err
}

// paths returns the paths that differ between two trees, at most mostPaths.
func (b treeComparer) paths(ctx context.Context, from, to string) ([]string, error) {
	all, err := b.q.command("diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to).fields(ctx)
	return all[:min(len(all), mostPaths)], err
}

// compareSeries handles the last commit of a rebase. It walks back from there to find the landed
// copies of the head's commits. A commit of the head without a copy must change nothing when
// replayed.
func (b treeComparer) compareSeries(ctx context.Context, out *Landing, series []comparedCommit, base string) error {
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
		out.Why = "" // all commits landed, but the files differ: differs reports OtherTree
	}
	out.differs(true)
	return nil
}

// chain returns at most most commits back from a landed one along first parents. It stops before
// base, because base may itself be a copy of the head's first commit.
func (b treeComparer) chain(ctx context.Context, landed, base string, most int) ([]comparedCommit, error) {
	args := []string{"--first-parent", "--max-count=" + strconv.Itoa(most), landed}
	if before, err := b.contains(ctx, landed, base); err != nil {
		return nil, err
	} else if before && base != landed {
		args = append(args, "^"+base)
	}
	return b.commits(ctx, args...)
}

// pairSeries matches the commits of a series (oldest first) with the landed chain (newest first).
// It returns the landed commits by their index in the series. The landed commit is one of the
// series.
func pairSeries(series, chain []comparedCommit) map[int]comparedCommit {
	landed := map[int]comparedCommit{}
	for i, c := range slices.Backward(series) {
		if len(chain) > 0 && len(chain[0].parents) <= 1 && chain[0].rebaseKey() == c.rebaseKey() {
			landed[i], chain = chain[0], chain[1:]
		}
	}
	return landed
}

// replay applies the changes of a series in order to a tree and returns the tree after each.
func (b treeComparer) replay(ctx context.Context, series []comparedCommit, tree string) (steps []string, clean bool, err error) {
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
