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
)

// objectReader asks one git process one question after the other. It may be
// used by several at once. What is written to the repository while it lives is seen: git
// looks again for what it does not find, and reads refs each time.
type objectReader struct {
	call command

	mu   sync.Mutex
	talk *proc.Conversation // nil: nobody asks
	out  *bufio.Reader
	rest *time.Timer
	uses int // how many questions were asked, so that a rest is known to be over
}

// readerIdle is after how long without a question the process ends: an agent works for an hour.
const readerIdle = 10 * time.Second

// newObjectReader makes a reader of the repository that the call is about.
func newObjectReader(call command) *objectReader {
	call.Args = []string{"cat-file", "--batch-command"}
	return &objectReader{call: call}
}

// object is what git says of a name. A name that stands for nothing has no OID.
type object struct {
	OID  string
	Kind string // blob, tree, commit, tag
	Size int64
}

// Found reports whether the name stands for something that is there.
func (o object) Found() bool { return o.OID != "" }

// Look says what names stand for: object ids, refs, and either with ^{commit} or ^{tree}.
func (r *objectReader) Look(ctx context.Context, names ...string) ([]object, error) {
	all := make([]object, len(names))
	var plain []string
	var at []int
	for i, name := range names {
		if sayable(name) {
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

// sayable reports whether a name can be asked for: what has a line ending would be two
// questions, and no name that we ask for has a blank.
func sayable(name string) bool {
	bad := func(c rune) bool { return c <= ' ' || c == 0x7f }
	return name != "" && len(name) < 4096 && !strings.ContainsFunc(name, bad)
}

// How much is read at once, before it is handed over.
const (
	objectsAtOnce = 200
	bytesAtOnce   = 16 << 20
	// maxObjectBytes is the largest object that is read.
	maxObjectBytes = 1 << 30
)

// Read hands over what objects hold, whole, in their order. Their sizes, where Look has
// told them, bound how much is held at once; of another kind than they say none is read.
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

// Content is what one object holds.
func (r *objectReader) Content(ctx context.Context, o object) (content []byte, err error) {
	err = r.Read(ctx, []object{o}, func(_ int, b []byte) error { content = b; return nil })
	return content, err
}

// contents are those of a few objects.
func (r *objectReader) contents(ctx context.Context, some []object) ([][]byte, error) {
	oids := make([]string, len(some))
	for i, o := range some {
		if !sayable(o.OID) || o.Size > maxObjectBytes {
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
		case !o.Found():
			return &answerError{fmt.Errorf("object %s is missing", oids[i])}
		case some[i].Kind != "" && o.Kind != some[i].Kind:
			return &answerError{fmt.Errorf("object %s is a %s, not a %s", oids[i], o.Kind, some[i].Kind)}
		case o.Size > maxObjectBytes:
			return fmt.Errorf("object %s has %d bytes", oids[i], o.Size)
		}
		contents[i] = make([]byte, o.Size+1) // and a line ending
		_, err = io.ReadFull(out, contents[i])
		contents[i] = contents[i][:o.Size:o.Size]
		return err
	})
	return contents, err
}

// answerError is an answer, and no reason to ask again.
type answerError struct{ error }

// readHead reads "<oid> <kind> <size>", or what else is said of a name: it is missing, or
// stands for several things.
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

// ask asks a question of each name, and reads the answers. A git that died is started
// again, once.
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
		if err != nil { // what is left of its answers would be taken for others
			err = r.say(err)
			r.end()
			return
		}
		r.untilIdle()
	}()
	limited, cancel := context.WithTimeoutCause(ctx, r.call.timeLimit(), &TimeoutError{Command: "cat-file", Limit: proc.WallLimit})
	defer cancel()
	talk := r.talk
	defer context.AfterFunc(limited, talk.Kill)()
	go func() { _, _ = io.WriteString(talk.In, said) }() // beside its answers: neither waits for the other
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

// say adds to an error what git said before it died.
func (r *objectReader) say(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	r.talk.End()
	return &CommandError{Command: "cat-file", Code: r.talk.Code(), Stderr: r.talk.Stderr()}
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

// untilIdle has the process end when nobody asks for a while.
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

// Close ends the process: before the repository's folder is moved or removed, and when
// all is done. Who asks again afterwards starts another one.
func (r *objectReader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}

// commitObject is a commit object, signatures left out.
type commitObject struct {
	OID     string
	Tree    string
	Parents []string
	Author  string // Name <email> seconds zone
	Recoded bool   // it says in which encoding its message is
	Message string
}

// Commit reads a commit.
func (r *objectReader) Commit(ctx context.Context, oid string) (commitObject, error) {
	content, err := r.Content(ctx, object{OID: oid, Kind: "commit"})
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

// Line are the commits from one back to another, which is left out, newest first, where
// each has one parent. Not whole: the other is not among the most ones, or a merge is.
func (r *objectReader) Line(ctx context.Context, from, to string, most int) (commits []commitObject, whole bool, err error) {
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
func (r *objectReader) Follows(ctx context.Context, oid, other string) (bool, error) {
	if oid == other {
		return true, nil
	}
	c, err := r.Commit(ctx, oid)
	return slices.Contains(c.Parents, other), err
}

// treeEntry is a file of a tree; its mode as git lists it.
type treeEntry struct{ Mode, OID, Path string }

// The modes of what stands in trees. modeNone is that of nothing.
const (
	modeNone    = "000000"
	modeTree    = "040000"
	modeSymlink = "120000"
	modeGitlink = "160000"
)

// treeChange is a path at which two trees differ; the side on which nothing stands has
// modeNone and a zero object id.
type treeChange struct {
	Path     string
	Old, New treeEntry
}

// List are the files of a tree, by path.
func (r *objectReader) List(ctx context.Context, tree string) ([]treeEntry, error) {
	changes, err := r.Changes(ctx, "", tree)
	entries := make([]treeEntry, len(changes))
	for i, c := range changes {
		entries[i] = c.New
	}
	return entries, err
}

// Changes are the files in which two trees differ, by path; no tree ("") is empty.
// Nothing is taken for moved.
func (r *objectReader) Changes(ctx context.Context, from, to string) ([]treeChange, error) {
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
	slices.SortStableFunc(all, func(a, b treeChange) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// At is what stands at a path of a tree, a folder too.
func (r *objectReader) At(ctx context.Context, tree, at string) (treeEntry, bool, error) {
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

// treePair has two trees that stand at one path; either may be "".
type treePair struct{ path, from, to string }

// trees reads each tree of the pairs, by object id.
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

// compareEntries says how two trees differ that stand at one path, as far as they tell, and
// which trees below them are to be compared.
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

// subtree is the tree that an entry is, if any.
func subtree(e treeEntry) string {
	if e.Mode == modeTree {
		return e.OID
	}
	return ""
}

// changeEntry is an entry as one side of a change; a folder counts as nothing.
func changeEntry(at string, e, other treeEntry) treeEntry {
	if e.Mode == "" || e.Mode == modeTree {
		return treeEntry{Mode: modeNone, OID: strings.Repeat("0", max(len(e.OID), len(other.OID))), Path: at}
	}
	e.Path = at
	return e
}

// parseTree reads a tree: for each entry a mode in octal digits, a blank, a name, a zero and
// the bytes of an object id.
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

// canonicalMode is a mode as git takes it; old trees have other forms.
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
