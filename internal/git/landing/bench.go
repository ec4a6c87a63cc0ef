package landing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
)

// bench is where trees are made to be looked at.
type bench struct{ q *mirror.Quarantine }

// aside runs do with a place for objects that nobody keeps.
func (l Landings) aside(name string, do func(bench) error) error {
	return l.mirror.Aside(name, func(q *mirror.Quarantine) error { return do(bench{q}) })
}

// commit is what is compared of one.
type commit struct {
	oid, tree string
	parents   []string
	author    string // name, address, date
	message   string
}

// sign is what a rebase leaves of a commit.
func (c commit) sign() string { return c.author + "\x00" + c.message }

func signedBy(series []commit, c commit) bool {
	for _, s := range series {
		if s.sign() == c.sign() && len(c.parents) <= 1 {
			return true
		}
	}
	return false
}

// commits lists commits as git's log selects them, newest first; none is before what it
// stands on.
func (b bench) commits(ctx context.Context, args ...string) ([]commit, error) {
	call := b.q.Call("log", "-z", "--topo-order", "--date=raw", "--format=%H%n%T%n%P%n%an <%ae> %ad%n%B")
	call.Args = append(call.Args, args...)
	call.Args = append(call.Args, "--")
	records, err := call.Fields(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]commit, 0, len(records))
	for _, record := range records {
		f := strings.SplitN(record, "\n", 5)
		if len(f) != 5 {
			return nil, fmt.Errorf("read commits: %q", record)
		}
		all = append(all, commit{oid: f[0], tree: f[1], parents: strings.Fields(f[2]), author: f[3], message: plain(f[4])})
	}
	return all, nil
}

// plain is a message without blanks at the ends of lines, which not every tool leaves.
func plain(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
	}
	return strings.Trim(b.String(), "\n")
}

func (b bench) commit(ctx context.Context, oid string) (commit, error) {
	if !b.q.Mirror().Has(ctx, oid) {
		return commit{}, &mirror.MissingError{OID: oid}
	}
	found, err := b.commits(ctx, "--max-count=1", oid)
	if err == nil && len(found) != 1 {
		err = &mirror.MissingError{OID: oid}
	}
	if err != nil {
		return commit{}, err
	}
	return found[0], nil
}

// series are the commits that a head has and a base has not, oldest first. Merges are no
// change of their own.
func (b bench) series(ctx context.Context, base, head string) ([]commit, error) {
	return b.commits(ctx, "--reverse", "--no-merges", head, "^"+base)
}

// unrelated is what git says of two histories without a common beginning.
var unrelated = []string{"refusing to merge unrelated histories"}

// merge is the tree of a merge of two commits. Histories that have nothing in common do
// not merge.
func (b bench) merge(ctx context.Context, into, other string) (tree string, clean bool, err error) {
	tree, clean, err = mergeTree(ctx, b.q, into, other)
	if failed, ok := errors.AsType[*plumbing.CommandError](err); ok && failed.Says(unrelated) {
		return "", false, nil
	}
	return tree, clean, err
}

// paths are those in which two trees differ.
func (b bench) paths(ctx context.Context, from, to string) ([]string, error) {
	all, err := b.q.Call("diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to).Fields(ctx)
	return all[:min(len(all), mostPaths)], err
}
