package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits configures the gates of a commit; a zero value is no limit.
type Limits struct {
	MaxFiles     int
	MaxFileBytes int64
	Protected    []string // globs of paths that must not change: "**/CODEOWNERS"
	NotOnly      []string // globs; a change whose paths all match is refused
	// Secrets returns each secret in a text with its kind. It gets whole files, their names and the
	// targets of links; only secrets that the change adds are refused.
	Secrets func(text string) map[string]string
}

// gate checks a change before it becomes a commit.
type gate struct {
	mirror  *Mirror  // required
	Dir     string   // the checkout; "" if there is none
	Index   string   // its index, as Restore wrote it
	Parents []string // of the commit
	From    string   // the tree that was checked out, if not the first parent's; may be ""
	Limits  Limits
}

// RefusedError means that a tree must not be committed; the reason names the paths. The agent may
// be asked to fix it.
type RefusedError struct {
	Reason    string
	Protected bool // a path that the config protects is affected
}

func (e *RefusedError) Error() string { return "refused: " + e.Reason }

// refusals collects reasons, to report them all at once.
type refusals struct {
	reasons   []string
	protected bool // a path that the config protects is affected
}

// maxRefusals keeps the message readable.
const maxRefusals = 20

func (r *refusals) add(format string, args ...any) {
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

func (r refusals) err() error {
	if len(r.reasons) == 0 {
		return nil
	}
	more := len(r.reasons) - maxRefusals
	reason := strings.Join(r.reasons[:min(len(r.reasons), maxRefusals)], "; ")
	if more > 0 {
		reason += fmt.Sprintf("; and %d more", more)
	}
	return &RefusedError{Reason: reason, Protected: r.protected}
}

// checkTree checks a tree and returns the paths that differ from every parent. index holds that
// tree.
func (g gate) checkTree(ctx context.Context, q *quarantine, tree, index string) ([]string, error) {
	changes, err := changesOf(ctx, q, g.Parents, tree)
	if err != nil {
		return nil, err
	}
	j := treeCheck{gate: g, q: q, tree: tree, index: index, changes: changes}
	if err := j.judge(ctx); err != nil {
		return nil, err
	}
	if err := g.checkProtectedInMerge(ctx, q, tree); err != nil {
		return nil, err
	}
	var paths []string
	for _, ch := range changes {
		paths = append(paths, ch.path)
	}
	return paths, nil
}

// treeCheck collects the reasons to refuse one tree.
type treeCheck struct {
	gate
	q       *quarantine
	tree    string
	index   string // holds the tree
	changes []pathChange
	refused refusals
}

func (j *treeCheck) judge(ctx context.Context) error {
	l := j.Limits
	if l.MaxFiles > 0 && len(j.changes) > l.MaxFiles {
		j.refused.add("%d files are changed, %d are allowed", len(j.changes), l.MaxFiles)
		return j.refused.err()
	}
	for _, ch := range j.changes {
		if err := gatePath(ch, l, &j.refused); err != nil {
			return err
		}
	}
	if err := j.checkNotOnly(); err != nil {
		return err
	}
	if err := j.checkBareRepositories(ctx); err != nil {
		return err
	}
	if err := j.checkLinks(ctx); err != nil {
		return err
	}
	if err := j.checkContents(ctx); err != nil {
		return err
	}
	return j.refused.err()
}

// checkProtectedInMerge refuses a merge in which a protected path differs from git's own merge.
// Undoing one side's change there looks like no change against the other parent.
func (g gate) checkProtectedInMerge(ctx context.Context, q *quarantine, tree string) error {
	if g.From == "" {
		return nil
	}
	changes, err := treeChanges(ctx, q, g.From, tree)
	if err != nil {
		return err
	}
	var refused refusals
	for _, ch := range changes {
		if err := gatePath(ch, g.Limits, &refused); err != nil {
			return err
		}
	}
	return refused.err()
}

// gatePath checks the path and the modes of a change.
func gatePath(ch pathChange, l Limits, refused *refusals) error {
	switch {
	case ch.oldMode == modeGitlink && ch.newMode == modeNone:
		refused.add("submodule %q is removed", ch.path)
	case ch.oldMode == modeGitlink:
		refused.add("submodule %q is changed", ch.path)
	case ch.newMode == modeGitlink:
		refused.add("%q is a repository within the repository", ch.path)
	}
	if trouble := nameTrouble(ch.path); trouble != "" && ch.newMode != modeNone {
		refused.add("%s", trouble)
	}
	glob, ok, err := protectedBy(ch, l.Protected)
	if ok {
		refused.add("%q is protected (%s)", ch.path, glob)
		refused.protected = true
	}
	return err
}

// protectedBy returns the glob that protects a path. Case is ignored because some file systems
// ignore it. A link in place of a folder that contains protected paths counts, too: the link's
// target would appear there.
func protectedBy(ch pathChange, globs []string) (glob string, ok bool, err error) {
	at := strings.ToLower(ch.path)
	for _, glob := range globs {
		pattern := strings.ToLower(glob)
		ok, err := doublestar.Match(pattern, at)
		if err != nil {
			return "", false, fmt.Errorf("protected path %q: %w", glob, err)
		}
		if fixed, _ := doublestar.SplitPattern(pattern); ch.newMode == modeSymlink && (fixed == at || strings.HasPrefix(fixed, at+"/")) {
			ok = true
		}
		if ok {
			return glob, true, nil
		}
	}
	return "", false, nil
}

// checkNotOnly refuses a change whose paths all match NotOnly: an implementation that consists of
// documents.
func (j *treeCheck) checkNotOnly() error {
	if len(j.Limits.NotOnly) == 0 || len(j.changes) == 0 {
		return nil
	}
	for _, ch := range j.changes {
		within := false
		for _, glob := range j.Limits.NotOnly {
			ok, err := doublestar.Match(glob, ch.path)
			if err != nil {
				return fmt.Errorf("path %q: %w", glob, err)
			}
			within = within || ok
		}
		if !within {
			return nil
		}
	}
	j.refused.add("nothing but documents is changed: %q and such", j.changes[0].path)
	return nil
}

// pathChange is a path that differs from every parent.
type pathChange struct {
	oldMode, newMode, oldOID, newOID, path string

	others []pathChange // changes of the same path against the other parents
}

// changesOf returns the changes of a tree against the first parent, without paths that equal
// another parent's.
func changesOf(ctx context.Context, q *quarantine, parents []string, tree string) ([]pathChange, error) {
	if len(parents) == 0 {
		return treeChanges(ctx, q, emptyTree, tree)
	}
	all, err := treeChanges(ctx, q, parents[0], tree)
	if err != nil {
		return nil, err
	}
	for _, p := range parents[1:] {
		more, err := treeChanges(ctx, q, p, tree)
		if err != nil {
			return nil, err
		}
		differs := map[string]pathChange{}
		for _, ch := range more {
			differs[ch.path] = ch
		}
		all = slices.DeleteFunc(all, func(ch pathChange) bool { return differs[ch.path].path == "" })
		for i := range all {
			all[i].others = append(all[i].others, differs[all[i].path])
		}
	}
	return all, nil
}

func treeChanges(ctx context.Context, q *quarantine, from, tree string) ([]pathChange, error) {
	var trees [2]string
	for i, of := range []string{from, tree} { // a commit, or a tree
		found, err := q.reader.resolve(ctx, of+"^{tree}")
		if err != nil {
			return nil, err
		}
		if trees[i] = found[0].OID; !found[0].found() {
			return nil, fmt.Errorf("read changes: %q is missing", of)
		}
	}
	changes, err := q.reader.changes(ctx, trees[0], trees[1])
	out := make([]pathChange, len(changes))
	for i, c := range changes {
		out[i] = pathChange{oldMode: c.Old.Mode, newMode: c.New.Mode, oldOID: c.Old.OID, newOID: c.New.OID, path: c.Path}
	}
	return out, err
}

// checkContents checks the new blobs.
func (j *treeCheck) checkContents(ctx context.Context) error {
	blobs := slices.DeleteFunc(slices.Clone(j.changes), func(ch pathChange) bool { return ch.newMode == modeNone || ch.newMode == modeGitlink })
	lfs, err := j.lfsPaths(ctx, blobs)
	if err != nil {
		return err
	}
	sized, err := blobSizes(ctx, j.q, blobs, newSide)
	if err != nil {
		return err
	}
	sized = slices.DeleteFunc(sized, func(b changedBlob) bool {
		large := j.Limits.MaxFileBytes > 0 && b.Size > j.Limits.MaxFileBytes
		if large {
			j.refused.add("%q has %d bytes, %d are allowed", b.change.path, b.Size, j.Limits.MaxFileBytes)
		}
		return large
	})
	found := leakedSecrets{find: j.Limits.Secrets}
	err = eachBlob(ctx, j.q, sized, func(b changedBlob, content []byte) {
		j.checkContent(ctx, b.change, content, lfs[b.change.path])
		found.look(b.change, content)
	})
	if err != nil {
		return err
	}
	return j.checkSecrets(ctx, found)
}

// checkContent checks one new blob.
func (j *treeCheck) checkContent(ctx context.Context, ch pathChange, content []byte, lfs bool) {
	if ch.newMode == modeSymlink {
		if leavesTree(ch.path, string(content)) {
			j.refused.add("the link %q leads out of the repository", ch.path)
		}
		return
	}
	if lfs && !isPointer(content) {
		j.refused.add("%q belongs to Git LFS, whose files are not changed", ch.path)
	}
	if isAttributes(ch.path) && hasEncodingWithoutValue(content) {
		j.refused.add("%q has working-tree-encoding without a value, with which git checks no file out", ch.path)
	}
	if hasConflict(content) && (ch.oldMode == modeNone || !hadConflict(ctx, j.q, ch.oldOID)) {
		j.refused.add("%q has conflict markers", ch.path)
	}
}

// lfsPaths returns the paths that .gitattributes assigns to Git LFS.
func (j *treeCheck) lfsPaths(ctx context.Context, blobs []pathChange) (map[string]bool, error) {
	if assigned, err := j.haveAttributes(ctx, blobs); err != nil || !assigned {
		return nil, err
	}
	c := j.q.command("check-attr", "--cached", "-z", "--stdin", "filter")
	c.Index = j.index
	var in strings.Builder
	for _, ch := range blobs {
		in.WriteString(ch.path + "\x00")
	}
	c.Stdin = []byte(in.String())
	res, err := runPatterns(ctx, c, patternTimeout(j.mirror))
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for f := splitFields(res.Stdout); len(f) >= 3; f = f[3:] {
		out[f[0]] = f[2] == "lfs"
	}
	return out, nil
}

// haveAttributes reports whether the tree may have a .gitattributes for any of the blobs. Most trees
// have none, and asking the reader saves a process.
func (j *treeCheck) haveAttributes(ctx context.Context, blobs []pathChange) (bool, error) {
	asked := map[string]bool{}
	for _, b := range blobs {
		for dir := b.path; dir != "."; {
			dir = path.Dir(dir)
			asked[j.tree+":"+path.Join(dir, ".gitattributes")] = true
		}
	}
	names := slices.Collect(maps.Keys(asked))
	if slices.ContainsFunc(names, func(name string) bool { return !isQueryable(name) }) {
		return true, nil
	}
	found, err := j.q.reader.resolve(ctx, names...)
	return slices.ContainsFunc(found, object.found), err
}

func isPointer(content []byte) bool {
	return len(content) < 1024 && bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/v1\n"))
}

// hasConflict reports whether the three conflict markers appear in order.
func hasConflict(content []byte) bool {
	stage := 0
	for line := range bytes.Lines(content) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			stage = 1
		case stage == 1 && bytes.Equal(line, []byte("=======")):
			stage = 2
		case stage == 2 && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			return true
		}
	}
	return false
}

// changeSide selects the old or the new content of a change.
type changeSide func(pathChange) (mode, oid string)

func newSide(ch pathChange) (mode, oid string) { return ch.newMode, ch.newOID }
func oldSide(ch pathChange) (mode, oid string) { return ch.oldMode, ch.oldOID }

// changedBlob is a change with the object of one of its sides.
type changedBlob struct {
	change pathChange
	object
}

// blobSizes looks up the blobs on one side of the changes.
func blobSizes(ctx context.Context, q *quarantine, changes []pathChange, of changeSide) ([]changedBlob, error) {
	var blobs []changedBlob
	var oids []string
	for _, ch := range changes {
		if mode, oid := of(ch); mode != modeNone && mode != modeGitlink {
			blobs, oids = append(blobs, changedBlob{change: ch}), append(oids, oid)
		}
	}
	found, err := q.reader.resolve(ctx, oids...)
	if err != nil {
		return nil, fmt.Errorf("read sizes: %w", err)
	}
	for i, o := range found {
		if o.Kind != "blob" {
			return nil, fmt.Errorf("read sizes: %q is missing", oids[i])
		}
		blobs[i].object = o
	}
	return blobs, nil
}

// eachBlob calls do with the whole content of each blob.
func eachBlob(ctx context.Context, q *quarantine, blobs []changedBlob, do func(changedBlob, []byte)) error {
	all := make([]object, len(blobs))
	for i, b := range blobs {
		all[i] = b.object
	}
	return q.reader.Read(ctx, all, func(i int, content []byte) error {
		do(blobs[i], content)
		return nil
	})
}

func hadConflict(ctx context.Context, q *quarantine, oid string) bool {
	content, err := q.reader.content(ctx, object{OID: oid, Kind: "blob"})
	return err == nil && hasConflict(content)
}
