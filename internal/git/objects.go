package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// objectReader sends queries, one after the other, to one git cat-file process. It is safe for
// concurrent use. It sees objects and refs that are written while the process runs: git looks again
// for a missing object and reads refs at each query.
type objectReader struct {
	call command

	mu   sync.Mutex
	talk *proc.Conversation // nil: no process runs
	out  *bufio.Reader
	rest *time.Timer
	uses int // number of queries; the idle timer ends the process only if it did not change
}

// readerIdle ends the process after this long without a query, because an agent may work for an
// hour between two.
const readerIdle = 10 * time.Second

// newObjectReader returns a reader of the call's repository.
func newObjectReader(call command) *objectReader {
	call.Args = []string{"cat-file", "--batch-command"}
	return &objectReader{call: call}
}

// object is git's description of a name; OID is "" if the name does not exist.
type object struct {
	OID  string
	Kind string // blob, tree, commit, tag
	Size int64
}

// found reports whether the name exists.
func (o object) found() bool { return o.OID != "" }

// resolve resolves names: object ids and refs, either with ^{commit} or ^{tree}.
func (r *objectReader) resolve(ctx context.Context, names ...string) ([]object, error) {
	all := make([]object, len(names))
	var plain []string
	var at []int
	for i, name := range names {
		if isQueryable(name) {
			plain, at = append(plain, name), append(at, i)
		}
	}
	if len(plain) == 0 {
		return all, nil
	}
	err := r.ask(ctx, "info", plain, func(i int, out *bufio.Reader) (err error) {
		all[at[i]], err = readHead(out)
		return err
	})
	return all, err
}

// isQueryable reports whether a name can be sent to git as one query. A line ending would make it
// two, and no valid name contains a blank.
func isQueryable(name string) bool {
	bad := func(c rune) bool { return c <= ' ' || c == 0x7f }
	return name != "" && len(name) < 4096 && !strings.ContainsFunc(name, bad)
}

// Limits on how much is read at once, before it is passed on.
const (
	objectsAtOnce = 200
	bytesAtOnce   = 16 << 20
	// maxObjectBytes is the largest object that Read accepts.
	maxObjectBytes = 1 << 30
)

// Read calls do with the whole content of each object, in order. Sizes from Look bound how much is
// held in memory at once. An object of another kind than its Kind is an error.
func (r *objectReader) Read(ctx context.Context, all []object, do func(i int, content []byte) error) error {
	for begin := 0; begin < len(all); {
		end, total := begin, int64(0)
		for end < len(all) && end-begin < objectsAtOnce && (end == begin || total+all[end].Size <= bytesAtOnce) {
			total += all[end].Size
			end++
		}
		contents, err := r.contents(ctx, all[begin:end])
		if err != nil {
			return err
		}
		for i, content := range contents {
			if err := do(begin+i, content); err != nil {
				return err
			}
		}
		begin = end
	}
	return nil
}

// content returns the content of one object.
func (r *objectReader) content(ctx context.Context, o object) (content []byte, err error) {
	err = r.Read(ctx, []object{o}, func(_ int, b []byte) error { content = b; return nil })
	return content, err
}

// contents reads a batch of objects.
func (r *objectReader) contents(ctx context.Context, some []object) ([][]byte, error) {
	oids := make([]string, len(some))
	for i, o := range some {
		if !isQueryable(o.OID) || o.Size > maxObjectBytes {
			return nil, fmt.Errorf("read object %q of %d bytes: it cannot be read", o.OID, o.Size)
		}
		oids[i] = o.OID
	}
	contents := make([][]byte, len(some))
	err := r.ask(ctx, "contents", oids, func(i int, out *bufio.Reader) error {
		o, err := readHead(out)
		switch {
		case err != nil:
			return err
		case !o.found():
			return &answerError{fmt.Errorf("object %s is missing", oids[i])}
		case some[i].Kind != "" && o.Kind != some[i].Kind:
			return &answerError{fmt.Errorf("object %s is a %s, not a %s", oids[i], o.Kind, some[i].Kind)}
		case o.Size > maxObjectBytes:
			return fmt.Errorf("object %s has %d bytes", oids[i], o.Size)
		}
		contents[i] = make([]byte, o.Size+1) // the content ends with an extra line ending
		_, err = io.ReadFull(out, contents[i])
		contents[i] = contents[i][:o.Size:o.Size]
		return err
	})
	return contents, err
}

// answerError is a valid answer of git, so that the query is not repeated.
type answerError struct{ error }

// readHead reads "<oid> <kind> <size>". Any two-field answer (missing, ambiguous) gives an object
// without OID.
func readHead(out *bufio.Reader) (object, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return object{}, err
	}
	f := strings.Fields(line)
	if len(f) == 2 {
		return object{}, nil
	}
	if len(f) == 3 {
		if size, err := strconv.ParseInt(f[2], 10, 64); err == nil && size >= 0 {
			return object{OID: f[0], Kind: f[1], Size: size}, nil
		}
	}
	return object{}, fmt.Errorf("read git's answer: %.200q", line)
}

// ask sends a query for each name and reads the answers. If a running git process fails, ask starts
// another one and tries once more.
func (r *objectReader) ask(ctx context.Context, question string, names []string, read func(i int, out *bufio.Reader) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var said strings.Builder
	for _, name := range names {
		said.WriteString(question + " " + name + "\n")
	}
	alive := r.talk != nil
	err := r.askOnce(ctx, said.String(), len(names), read)
	if err != nil && alive && ctx.Err() == nil {
		if _, answered := errors.AsType[*answerError](err); !answered {
			err = r.askOnce(ctx, said.String(), len(names), read)
		}
	}
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (r *objectReader) askOnce(ctx context.Context, said string, n int, read func(i int, out *bufio.Reader) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.start(); err != nil {
		return err
	}
	defer func() {
		if err != nil { // unread answers would be taken for those of the next query
			err = r.explainEOF(err)
			r.end()
			return
		}
		r.untilIdle()
	}()
	limited, cancel := context.WithTimeoutCause(ctx, r.call.timeLimit(), &TimeoutError{Command: "cat-file", Limit: proc.WallLimit})
	defer cancel()
	talk := r.talk
	defer context.AfterFunc(limited, talk.Kill)()
	go func() { _, _ = io.WriteString(talk.In, said) }() // written while answers are read, to avoid a deadlock of full pipes
	for i := range n {
		if err := read(i, r.out); err != nil {
			if limited.Err() != nil {
				err = context.Cause(limited)
			}
			return err
		}
	}
	return nil
}

// explainEOF replaces an EOF by git's exit code and stderr.
func (r *objectReader) explainEOF(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	r.talk.End()
	return r.call.failure("cat-file", r.talk.Code(), r.talk.Stderr())
}

func (r *objectReader) start() error {
	if r.talk != nil {
		return nil
	}
	talk, err := r.call.converse()
	if err != nil {
		return err
	}
	r.talk, r.out = talk, bufio.NewReader(talk.Out)
	return nil
}

// untilIdle ends the process after readerIdle without a query.
func (r *objectReader) untilIdle() {
	r.uses++
	uses := r.uses
	if r.rest != nil {
		r.rest.Stop()
	}
	r.rest = time.AfterFunc(readerIdle, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.uses == uses {
			r.end()
		}
	})
}

func (r *objectReader) end() {
	if r.rest != nil {
		r.rest.Stop()
	}
	if r.talk != nil {
		r.talk.End()
		r.talk, r.out = nil, nil
	}
}

// Close ends the process. Call it before the repository's folder is moved or removed, and at the
// end. The next query starts a new process.
func (r *objectReader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}

// commitObject is a parsed commit without its signatures.
type commitObject struct {
	OID     string
	Tree    string
	Parents []string
	Author  string // Name <email> seconds zone
	Recoded bool   // it has an encoding header
	Message string
}

// Commit reads and parses a commit.
func (r *objectReader) Commit(ctx context.Context, oid string) (commitObject, error) {
	content, err := r.content(ctx, object{OID: oid, Kind: "commit"})
	if err != nil {
		return commitObject{}, fmt.Errorf("read commit: %w", err)
	}
	head, message, _ := strings.Cut(string(content), "\n\n")
	c := commitObject{OID: oid, Message: message}
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

// line returns the commits from to back to from, newest first, without from. whole is false if from
// is not within most commits or a commit does not have exactly one parent.
func (r *objectReader) line(ctx context.Context, from, to string, most int) (commits []commitObject, whole bool, err error) {
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

// isSelfOrChild reports whether oid is other or a child of other.
func (r *objectReader) isSelfOrChild(ctx context.Context, oid, other string) (bool, error) {
	if oid == other {
		return true, nil
	}
	c, err := r.Commit(ctx, oid)
	return slices.Contains(c.Parents, other), err
}

// treeEntry is an entry of a tree; Mode is as git prints it.
type treeEntry struct{ Mode, OID, Path string }

// Modes of tree entries. modeNone marks a missing entry.
const (
	modeNone    = "000000"
	modeTree    = "040000"
	modeSymlink = "120000"
	modeGitlink = "160000"
)

// treeChange is a path that differs between two trees. A missing side has modeNone and a zero
// object id.
type treeChange struct {
	Path     string
	Old, New treeEntry
}

// list returns the files of a tree, sorted by path.
func (r *objectReader) list(ctx context.Context, tree string) ([]treeEntry, error) {
	changes, err := r.changes(ctx, "", tree)
	entries := make([]treeEntry, len(changes))
	for i, c := range changes {
		entries[i] = c.New
	}
	return entries, err
}

// changes returns the files that differ between two trees, sorted by path. "" is the empty tree.
// Renames are not detected.
func (r *objectReader) changes(ctx context.Context, from, to string) ([]treeChange, error) {
	var all []treeChange
	for level := []treePair{{"", from, to}}; len(level) > 0; {
		trees, err := r.trees(ctx, level)
		if err != nil {
			return nil, err
		}
		var below []treePair
		for _, p := range level {
			changes, more := compareEntries(p.path, trees[p.from], trees[p.to])
			all, below = append(all, changes...), append(below, more...)
		}
		level = below
	}
	sorted.By(all, func(a, b treeChange) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// entryAt returns the entry at a path of a tree; folders have one, too.
func (r *objectReader) entryAt(ctx context.Context, tree, at string) (treeEntry, bool, error) {
	here := treeEntry{Mode: modeTree, OID: tree}
	for name := range strings.SplitSeq(at, "/") {
		if here.Mode != modeTree {
			return treeEntry{}, false, nil
		}
		trees, err := r.trees(ctx, []treePair{{to: here.OID}})
		if err != nil {
			return treeEntry{}, false, err
		}
		i := slices.IndexFunc(trees[here.OID], func(e treeEntry) bool { return e.Path == name })
		if i < 0 {
			return treeEntry{}, false, nil
		}
		here = trees[here.OID][i]
	}
	here.Path = at
	return here, true, nil
}

// treePair is two trees at one path; either may be "".
type treePair struct{ path, from, to string }

// trees reads the trees of all pairs, keyed by object id.
func (r *objectReader) trees(ctx context.Context, pairs []treePair) (map[string][]treeEntry, error) {
	read := map[string][]treeEntry{"": nil}
	var oids []string
	for _, p := range pairs {
		for _, oid := range []string{p.from, p.to} {
			if _, known := read[oid]; !known {
				read[oid] = nil
				oids = append(oids, oid)
			}
		}
	}
	some := make([]object, len(oids))
	for i, oid := range oids {
		some[i] = object{OID: oid, Kind: "tree"}
	}
	return read, r.Read(ctx, some, func(i int, content []byte) (err error) {
		read[oids[i]], err = parseTree(content, len(oids[i])/2)
		return err
	})
}

// compareEntries compares the entries of two trees at one path. below lists the subtrees to compare
// next.
func compareEntries(at string, from, to []treeEntry) (changes []treeChange, below []treePair) {
	names := map[string]*treeChange{}
	var order []string
	side := func(name string) *treeChange {
		if names[name] == nil {
			names[name] = &treeChange{}
			order = append(order, name)
		}
		return names[name]
	}
	for _, e := range from {
		side(e.Path).Old = e
	}
	for _, e := range to {
		side(e.Path).New = e
	}
	for _, name := range order {
		c := *names[name]
		if c.Old == c.New {
			continue
		}
		c.Path = name
		if at != "" {
			c.Path = at + "/" + name
		}
		if p := (treePair{c.Path, subtree(c.Old), subtree(c.New)}); p.from != p.to {
			below = append(below, p)
		}
		if c.Old, c.New = changeEntry(c.Path, c.Old, c.New), changeEntry(c.Path, c.New, c.Old); c.Old.Mode != c.New.Mode || c.Old.OID != c.New.OID {
			changes = append(changes, c)
		}
	}
	return changes, below
}

// subtree returns the tree of a folder's entry, "" for any other.
func subtree(e treeEntry) string {
	if e.Mode == modeTree {
		return e.OID
	}
	return ""
}

// changeEntry returns one side of a change; a folder counts as missing.
func changeEntry(at string, e, other treeEntry) treeEntry {
	if e.Mode == "" || e.Mode == modeTree {
		return treeEntry{Mode: modeNone, OID: strings.Repeat("0", max(len(e.OID), len(other.OID))), Path: at}
	}
	e.Path = at
	return e
}

// parseTree parses a tree object: for each entry its octal mode, a space, its name, a NUL and size
// bytes of object id.
func parseTree(content []byte, size int) ([]treeEntry, error) {
	var entries []treeEntry
	for len(content) > 0 {
		head, rest, ok := bytes.Cut(content, []byte{0})
		digits, name, ok2 := bytes.Cut(head, []byte{' '})
		mode, err := strconv.ParseUint(string(digits), 8, 32)
		if !ok || !ok2 || err != nil || len(rest) < size || len(name) == 0 {
			return nil, fmt.Errorf("read a tree: %.100q", content)
		}
		entries = append(entries, treeEntry{Mode: canonicalMode(mode), OID: hex.EncodeToString(rest[:size]), Path: string(name)})
		content = rest[size:]
	}
	return entries, nil
}

// canonicalMode converts a mode as git does; old trees have other modes.
func canonicalMode(mode uint64) string {
	switch mode & 0o170000 {
	case 0o040000:
		return modeTree
	case 0o120000:
		return modeSymlink
	case 0o100000:
		if mode&0o100 != 0 {
			return "100755"
		}
		return "100644"
	}
	return modeGitlink
}
