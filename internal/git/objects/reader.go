// Package objects reads what a repository has, by one git that answers many questions:
// commits, trees, blobs and refs, and how two trees differ.
package objects

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Reader asks one git after the other question, as long as somebody has one. It may be
// used by several at once. What is written to the repository while it lives is seen: git
// looks again for what it does not find, and reads refs each time.
type Reader struct {
	call plumbing.Call

	mu   sync.Mutex
	talk *proc.Conversation // nil: nobody asks
	out  *bufio.Reader
	rest *time.Timer
	uses int // how many questions were asked, so that a rest is known to be over
}

// idle is after how long without a question the process ends: an agent works for an hour.
const idle = 10 * time.Second

// New makes a reader of the repository that the call is about.
func New(call plumbing.Call) *Reader {
	call.Args = []string{"cat-file", "--batch-command"}
	return &Reader{call: call}
}

// Object is what git says of a name. A name that stands for nothing has no OID.
type Object struct {
	OID  string
	Kind string // blob, tree, commit, tag
	Size int64
}

// Found reports whether the name stands for something that is there.
func (o Object) Found() bool { return o.OID != "" }

// Look says what names stand for: object ids, refs, and either with ^{commit} or ^{tree}.
func (r *Reader) Look(ctx context.Context, names ...string) ([]Object, error) {
	all := make([]Object, len(names))
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
	// MostBytes is the largest object that is read.
	MostBytes = 1 << 30
)

// Read hands over what objects hold, whole, in their order. Their sizes, where Look has
// told them, bound how much is held at once; of another kind than they say none is read.
func (r *Reader) Read(ctx context.Context, all []Object, do func(i int, content []byte) error) error {
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
func (r *Reader) Content(ctx context.Context, o Object) (content []byte, err error) {
	err = r.Read(ctx, []Object{o}, func(_ int, b []byte) error { content = b; return nil })
	return content, err
}

// contents are those of a few objects.
func (r *Reader) contents(ctx context.Context, some []Object) ([][]byte, error) {
	oids := make([]string, len(some))
	for i, o := range some {
		if !sayable(o.OID) || o.Size > MostBytes {
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
		case o.Size > MostBytes:
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
func readHead(out *bufio.Reader) (Object, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return Object{}, err
	}
	f := strings.Fields(line)
	if len(f) == 2 {
		return Object{}, nil
	}
	if len(f) == 3 {
		if size, err := strconv.ParseInt(f[2], 10, 64); err == nil && size >= 0 {
			return Object{OID: f[0], Kind: f[1], Size: size}, nil
		}
	}
	return Object{}, fmt.Errorf("read git's answer: %.200q", line)
}

// ask asks a question of each name, and reads the answers. A git that died is started
// again, once.
func (r *Reader) ask(ctx context.Context, question string, names []string, read func(i int, out *bufio.Reader) error) error {
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

func (r *Reader) askOnce(ctx context.Context, said string, n int, read func(i int, out *bufio.Reader) error) (err error) {
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
	limited, cancel := context.WithTimeoutCause(ctx, r.call.Limit(), &plumbing.TimeoutError{Command: "cat-file", Limit: proc.WallLimit})
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
func (r *Reader) say(err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	r.talk.End()
	return &plumbing.CommandError{Command: "cat-file", Code: r.talk.Code(), Stderr: r.talk.Stderr()}
}

func (r *Reader) start() error {
	if r.talk != nil {
		return nil
	}
	talk, err := r.call.Converse()
	if err != nil {
		return err
	}
	r.talk, r.out = talk, bufio.NewReader(talk.Out)
	return nil
}

// untilIdle has the process end when nobody asks for a while.
func (r *Reader) untilIdle() {
	r.uses++
	uses := r.uses
	if r.rest != nil {
		r.rest.Stop()
	}
	r.rest = time.AfterFunc(idle, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.uses == uses {
			r.end()
		}
	})
}

func (r *Reader) end() {
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
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}
