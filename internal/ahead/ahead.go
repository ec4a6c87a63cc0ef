// Package ahead prefetches reads from GitHub. Independent reads run in parallel: code that knows
// what will be read starts it, and the code that reads one after the other finds the answers.
//
// An answer belongs to the context it was requested in. Reads with other contexts, such as those
// that must be current, go to GitHub.
package ahead

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Reads has the reads that were started before their answers are needed.
type Reads struct {
	life  context.Context //nolint:containedctx // it ends with them
	stop  context.CancelFunc
	most  time.Duration
	going sync.WaitGroup

	mu  sync.Mutex
	all map[any]*read
}

// read is one request. Its answer is valid once done is closed.
type read struct {
	begun  time.Time
	done   chan struct{}
	answer any
	err    error
}

// view is a context's access to Reads: reads with it are either started or taken from there.
type view struct {
	reads *Reads
	first *first // nil: reads are taken
}

// first is the single read that one Begin starts.
type first struct {
	once  sync.Once
	known chan struct{} // closed once the read can be found by its question, or nothing was asked
}

func (f *first) take() (mine bool) {
	f.once.Do(func() { mine = true })
	return mine
}

// errEnough is returned for every read after the first in Begin.
var errEnough = errors.New("only its first question is asked in advance")

type key struct{}

// New returns empty Reads. An answer is used until it is as old as most. The caller calls Stop to
// end reads that nobody used.
func New(ctx context.Context, most time.Duration) *Reads {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &Reads{life: life, stop: stop, most: most, all: map[any]*read{}}
}

// Into returns a context in which reads of r are found. A nil r changes nothing.
func (r *Reads) Into(ctx context.Context) context.Context {
	if r == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, view{reads: r})
}

// With combines New and Into.
func With(ctx context.Context, most time.Duration) (context.Context, *Reads) {
	r := New(ctx, most)
	return r.Into(ctx), r
}

// Without returns a context in which every read goes to GitHub.
func Without(ctx context.Context) context.Context {
	if _, ok := ctx.Value(key{}).(view); !ok {
		return ctx
	}
	return context.WithValue(ctx, key{}, view{})
}

// Learn adds the successful answers of others; they expire by r's own age limit.
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

// Stop cancels the reads that still run.
func (r *Reads) Stop() {
	if r == nil {
		return
	}
	r.stop()
	r.going.Wait()
}

// Begin starts the first read that ask makes; of a listing, its first page. Once Begin returns, the
// same read finds it. In a context without Reads, and within another Begin, it does nothing.
func Begin(ctx context.Context, ask func(context.Context)) {
	v, ok := ctx.Value(key{}).(view)
	if !ok || v.reads == nil || v.first != nil {
		return
	}
	v.first = &first{known: make(chan struct{})}
	v.reads.going.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(v.reads.life, cancel)()
		defer func() {
			if v.first.take() { // it asked nothing
				close(v.first.known)
			}
		}()
		_ = work.Contain("ask in advance", func() error { ask(context.WithValue(ctx, key{}, v)); return nil }) // whoever needs the answer asks
	})
	<-v.first.known
}

// Do returns the answer to a question that was asked in advance, or asks it. An error is an answer,
// too: what GitHub refused is not asked again.
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
	if err := ctx.Err(); err != nil { // when time is up, even prefetched answers are not used
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

// begin asks the first question unless it was asked recently.
func begin[T any](ctx context.Context, v view, question any, now time.Time, ask func(context.Context) (T, error)) (none T, err error) {
	if !v.first.take() {
		return none, errEnough
	}
	r := &read{begun: now, done: make(chan struct{})}
	mine := v.reads.add(question, r)
	close(v.first.known)
	if !mine {
		return none, errEnough
	}
	defer close(r.done)
	answer, err := none, error(nil)
	err = work.Contain("ask in advance", func() (err error) { answer, err = ask(ctx); return err })
	r.answer, r.err = answer, err
	return answer, err
}

// find returns a read that is recent enough, or nil.
func (r *Reads) find(question any, now time.Time) *read {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := r.all[question]
	if found == nil || now.Sub(found.begun).Abs() >= r.most {
		return nil
	}
	return found
}

// add stores a read unless there is a recent one.
func (r *Reads) add(question any, x *read) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.all[question]; known != nil && x.begun.Sub(known.begun).Abs() < r.most {
		return false
	}
	r.all[question] = x
	return true
}
