package env

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// BoxOf is a pull request whose merge box is read.
type BoxOf struct {
	Pull   work.PullRequest
	Issue  int // of its work item
	Policy merging.Policy
	Was    merging.Box // as an earlier pass read it; zero: nothing of it is reused
}

// ReadBoxes reads the merge boxes of pull requests of a repository, with the rules of their bases
// and what they change. Of a box that was read before it reuses that if head and merge base are the
// same, and the rules of the base if GitHub answers that they are. The boxes are read last, so that
// they show what changed during the other reads.
// Only they show the base's tip, by whose files agents obey some of what is changed.
func (p *Env) ReadBoxes(ctx context.Context, r *Repo, all []BoxOf) []github.BoxRead {
	b := boxReader{r: r, preflight: p.Preflight, rules: map[string]baseRules{}}
	for _, of := range all {
		if was := of.Was; len(was.Rules.ETags) > 0 {
			b.rules[was.Base] = baseRules{rules: was.Rules}
		}
	}
	out, beside := make([]github.BoxRead, len(all)), make([]merging.Box, len(all))
	var asked []merging.BoxOf
	var at []int
	for i, of := range all {
		if beside[i], out[i].Err = b.beside(ctx, of); out[i].Err == nil {
			asked = append(asked, merging.BoxOf{PullNodeID: of.Pull.NodeID, Number: of.Pull.Number, Issue: of.Issue, Freeze: of.Policy.Freeze})
			at = append(at, i)
		}
	}
	for k, read := range b.boxes(ctx, asked) {
		i := at[k]
		box := &read.Box
		box.Rules = beside[i].Rules
		if box.Head == all[i].Pull.HeadOID { // the change of another head is unknown
			box.Change = beside[i].Change
		}
		if read.Err == nil && box.From != "" {
			read.Err = b.addObeyed(ctx, all[i], box)
		}
		out[i] = read
	}
	return out
}

// boxReader reads merge boxes of one repository.
type boxReader struct {
	r         *Repo
	preflight func(context.Context) error // before any git; nil: git is not to be used
	rules     map[string]baseRules        // by base, which several pull requests may share
}

// baseRules are the rules of a base.
type baseRules struct {
	rules merging.Rules
	err   error
	read  bool // now; else they are of an earlier pass
}

// beside reads what a box shows that GitHub's merge box does not.
func (b boxReader) beside(ctx context.Context, of BoxOf) (box merging.Box, err error) {
	if box.Rules, err = b.demands(ctx, of.Pull.Base); err != nil {
		return box, err
	}
	switch was := of.Was; {
	case was.Head == of.Pull.HeadOID && was.From == of.Pull.MergeBase && len(was.Paths) > 0:
		box.Change = was.Change
	default:
		err = b.count(ctx, of.Pull, &box)
	}
	return box, err
}

// count reads what a pull request changes from its commits: GitHub counts no line of a file with a
// NUL byte. They were fetched when its merge base was computed. Without them the change is unknown.
func (b boxReader) count(ctx context.Context, pull work.PullRequest, box *merging.Box) error {
	if pull.MergeBase == "" || b.preflight == nil || b.preflight(ctx) != nil {
		return ctx.Err()
	}
	m := b.r.Git()
	for _, commit := range append(strings.Split(pull.MergeBase, "-"), pull.HeadOID) {
		if !m.Has(ctx, commit) {
			return ctx.Err()
		}
	}
	change, err := m.Changes(ctx, pull.MergeBase, pull.HeadOID, "")
	if err != nil {
		return err
	}
	base, _, _ := strings.Cut(pull.MergeBase, "-")
	tracked, err := m.ListFiles(ctx, base)
	if err != nil {
		return err
	}
	box.From = pull.MergeBase
	var deleted []string
	for _, f := range change {
		if f.Deleted() {
			deleted = append(deleted, f.Path)
		}
		box.Paths = append(box.Paths, f.Path)
		if f.From != "" {
			box.Paths = append(box.Paths, f.From)
		}
	}
	box.Deletes = merging.Deletes(tracked, deleted)
	return nil
}

// addObeyed finds which of the changed paths agents obey by the files of the base's tip. Without
// that commit the change is unknown.
func (b boxReader) addObeyed(ctx context.Context, of BoxOf, box *merging.Box) error {
	if was := of.Was; was.Head == box.Head && was.From == box.From && was.BaseTip == box.BaseTip && len(was.Paths) > 0 {
		return nil
	}
	tip := cmp.Or(box.BaseTip, of.Pull.BaseOID)
	if b.preflight == nil || b.preflight(ctx) != nil || !b.r.Git().Has(ctx, tip) && b.r.Git().Fetch(ctx, of.Pull.Base, tip) != nil {
		box.Change = merging.Change{}
		return ctx.Err()
	}
	some, err := b.r.Git().Obeyed(ctx, tip, box.Paths)
	box.Obeyed = some[:min(len(some), merging.MostPaths)]
	return err
}

func (b boxReader) demands(ctx context.Context, base string) (merging.Rules, error) {
	of := b.rules[base]
	if !of.read {
		of.rules, of.err = b.r.GitHub.RulesAgain(ctx, b.r.Row.Current, base, of.rules)
		of.read = true
		b.rules[base] = of
	}
	return of.rules, of.err
}

// boxes reads merge boxes, MaxBoxes in a query.
func (b boxReader) boxes(ctx context.Context, all []merging.BoxOf) (read []github.BoxRead) {
	for some := range slices.Chunk(all, github.MaxBoxes) {
		read = append(read, b.someBoxes(ctx, some)...)
	}
	return read
}

// someBoxes reads some merge boxes. A query that fails is split in halves, so that one pull request that GitHub
// cannot answer for does not hide the others; not if GitHub refuses the query itself.
func (b boxReader) someBoxes(ctx context.Context, all []merging.BoxOf) []github.BoxRead {
	read, err := b.r.GitHub.Boxes(ctx, b.r.Row.Current, all)
	switch half := len(all) / 2; {
	case err == nil:
		return read
	case half > 0 && github.IsItemError(err):
		return append(b.someBoxes(ctx, all[:half]), b.someBoxes(ctx, all[half:])...)
	}
	read = make([]github.BoxRead, len(all))
	for i := range read {
		read[i].Err = err
	}
	return read
}
