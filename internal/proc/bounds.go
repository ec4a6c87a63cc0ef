package proc

import (
	"context"
	"sync"
	"time"
)

// Bound is a limit that somebody else looks at while a program runs.
type Bound struct {
	Limit Limit // as Result.Passed names it
	// Passed is asked once a second, beside the run: it may take its time. True
	// ends the program, with all its descendants.
	Passed func(ctx context.Context) bool
}

// askBounds asks the bounds, each beside the others, until stop. passed gets
// those that are passed.
func (p *process) askBounds(ctx context.Context) (passed <-chan Limit, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan Limit, len(p.Bounds)+1)
	ask := func(b Bound) {
		if b.until(ctx) {
			found <- b.Limit
		}
	}
	// Nobody waits for these two: what the run mounted may answer as it likes.
	if p.disk != nil {
		go ask(Bound{DiskLimit, p.disk.passed})
	}
	if p.memory.most > 0 {
		go ask(Bound{MemoryLimit, func(context.Context) bool { return p.memory.lookAtFiles(p.family) }})
	}
	var asked sync.WaitGroup
	for _, b := range p.Bounds {
		asked.Go(func() { ask(b) })
	}
	return found, func() { cancel(); asked.Wait() }
}

// until waits until a bound is passed, or its run over.
func (b Bound) until(ctx context.Context) (passed bool) {
	look := time.NewTicker(scanInterval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		if b.Passed(ctx) && ctx.Err() == nil {
			return true
		}
	}
}
