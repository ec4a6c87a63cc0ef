package work

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// PanicError is a fault of this program, which stops only what Contain was called for.
type PanicError struct {
	Doing string // what Contain was called for, such as "plan octo/app#12"
	Place string // of the panic in the source, as file:line
	Value string // of the panic
	Stack string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: a fault of gh mergexo at %s: %s", e.Doing, e.Place, e.Value)
}

// Reason returns why what the panic stopped waits for a person. The value of the panic may name this
// machine's folders and worse.
func (e *PanicError) Reason() Reason {
	return Reason{Kind: WhyPanic, Name: e.Place, Local: e.Value}
}

// Probe is called by Contain before anything else. Only tests set it, before the program begins: to panic.
var Probe func(doing string)

// Contain returns a panic of do as a *PanicError. It is called where one thing of many is done: a
// repository is read, an item planned, a phase of a turn run, a notice sent, a merge looked at, a line
// printed. The others go on.
func Contain(doing string, do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicOf(doing, r)
		}
	}()
	if Probe != nil {
		Probe(doing)
	}
	return do()
}

// panicOf is called by the function that is deferred, while the stack of the panic is there.
func panicOf(doing string, value any) *PanicError {
	if e, ok := value.(*PanicError); ok { // of a Group
		e.Doing = doing
		return e
	}
	return &PanicError{Doing: doing, Place: placeOfPanic(), Value: fmt.Sprint(value), Stack: string(debug.Stack())}
}

// module begins the names of the packages of this program.
const module = "github.com/mergexo/gh-mergexo/"

// placeOfPanic returns the innermost place of this program below the panic: what panics may be a
// function of the standard library.
func placeOfPanic() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panics := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panics = true
		case panics && strings.HasPrefix(f.Function, module):
			name := strings.TrimPrefix(f.Function, module)
			dir, _, _ := strings.Cut(path.Base(name), ".")
			return fmt.Sprintf("%s:%d", path.Join(path.Dir(name), dir, path.Base(f.File)), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// Group is a sync.WaitGroup whose Wait panics if a function did: a panic of another goroutine would end
// the whole program, whoever contains it.
type Group struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	err *PanicError
}

// Go calls do in a goroutine of its own.
func (g *Group) Go(do func()) {
	g.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.err = panicOf("", r)
			}
		}()
		do()
	})
}

// Wait waits until all functions have returned.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.err != nil {
		panic(g.err)
	}
}
