// Package ahead has GitHub asked in advance. Reads that do not depend on one another are
// on their way together: whoever knows what is about to be asked begins it, and the code
// that asks it in its turn, one read after the other, finds the answer there.
//
// An answer belongs to the context in which it was asked for. What is read with any other
// one, as is what must be looked at once more, goes to GitHub.
package ahead

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Reads are those that were begun in advance.
type Reads struct {
	life  context.Context //nolint:containedctx // it ends with them
	stop  context.CancelFunc
	most  time.Duration
	going sync.WaitGroup

	mu  sync.Mutex
	all map[any]*read
}

// read is one request. It has its answer once it is done.
type read struct {
	begun  time.Time
	done   chan struct{}
	answer any
	err    error
}

// view is what a context knows of reads: what is asked with it is begun, or taken.
type view struct {
	reads *Reads
	first *first // nil: what is asked is taken
}

// first is the one read that is begun at a time.
type first struct {
	once  sync.Once
	known chan struct{} // closed once it is found by its question, or there will be none
}

func (f *first) take() (mine bool) {
	f.once.Do(func() { mine = true })
	return mine
}

// ErrEnough ends what asks more than one thing in advance.
var ErrEnough = errors.New("only its first question is asked in advance")

type key struct{}

// New makes room for reads that are begun in advance, and that stand for so long. Whoever
// makes it stops those that nobody asked for in the end.
func New(ctx context.Context, most time.Duration) *Reads {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &Reads{life: life, stop: stop, most: most, all: map[any]*read{}}
}

// Into is a context in which what was begun in advance is found. Of nil nothing is.
func (r *Reads) Into(ctx context.Context) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, view{reads: r})
}

// With is both for reads that end where they were begun.
func With(ctx context.Context, most time.Duration) (context.Context, *Reads) {
	r := New(ctx, most)
	return r.Into(ctx), r
}

// Without is a context in which GitHub itself is asked.
func Without(ctx context.Context) context.Context {
	if _, ok := ctx.Value(key{}).(view); !ok {
		return ctx
	}
	return context.WithValue(ctx, key{}, view{})
}

// Learn takes over what others have been answered, while that is young enough for them.
func (r *Reads) Learn(others *Reads) {
	if others == nil {
		return
	}
	others.mu.Lock()
	defer others.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for question, x := range others.all {
		select {
		case <-x.done:
			if x.err == nil {
				r.all[question] = x
			}
		default:
		}
	}
}

// InAdvance reports whether what is asked in a context is asked in advance.
func InAdvance(ctx context.Context) bool {
	v, ok := ctx.Value(key{}).(view)
	return ok && v.first != nil
}

// Stop ends what is still on its way.
func (r *Reads) Stop() {
	if r == nil {
		return
	}
	r.stop()
	r.going.Wait()
}

// Begin asks in advance the first thing that ask asks, which is a read: of a listing its
// first page. Once it returns, whoever asks the same finds it. In a context that knows of
// no reads nothing is asked.
func Begin(ctx context.Context, ask func(context.Context)) {
	v, ok := ctx.Value(key{}).(view)
	if !ok || v.reads == nil {
		return
	}
	v.first = &first{known: make(chan struct{})}
	v.reads.going.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(v.reads.life, cancel)()
		ask(context.WithValue(ctx, key{}, v))
		if v.first.take() { // it asked nothing
			close(v.first.known)
		}
	})
	<-v.first.known
}

// Do gives the answer to a question that was asked in advance, or asks it. A failure is an
// answer, too: it is not asked twice what GitHub refuses.
func Do[T any](ctx context.Context, question any, now time.Time, ask func(context.Context) (T, error)) (T, error) {
	v, ok := ctx.Value(key{}).(view)
	if !ok || v.reads == nil {
		return ask(ctx)
	}
	if v.first != nil {
		return begin(ctx, v, question, now, ask)
	}
	var none T
	found := v.reads.find(question, now)
	if found == nil {
		return ask(ctx)
	}
	if err := ctx.Err(); err != nil { // with the time up nothing more is read, answered or not
		return none, err
	}
	select {
	case <-found.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	answer, _ := found.answer.(T)
	return answer, found.err
}

// begin asks a first question, unless it was asked a moment ago.
func begin[T any](ctx context.Context, v view, question any, now time.Time, ask func(context.Context) (T, error)) (none T, err error) {
	if !v.first.take() {
		return none, ErrEnough
	}
	r := &read{begun: now, done: make(chan struct{})}
	mine := v.reads.add(question, r)
	close(v.first.known)
	if !mine {
		return none, ErrEnough
	}
	defer close(r.done)
	answer, err := ask(ctx)
	r.answer, r.err = answer, err
	return answer, err
}

// find finds a read that was begun and is young enough; nil: there is none.
func (r *Reads) find(question any, now time.Time) *read {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.all[question]
	if found == nil || now.Sub(found.begun).Abs() >= r.most {
		return nil
	}
	return found
}

// add keeps a read, unless there is one that is young enough.
func (r *Reads) add(question any, x *read) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.all[question]; known != nil && x.begun.Sub(known.begun).Abs() < r.most {
		return false
	}
	r.all[question] = x
	return true
}
