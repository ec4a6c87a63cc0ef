package proc

import (
	"context"
	"time"
)

// Bound is a limit that somebody else looks at while a program runs.
type Bound struct {
	Limit Limit // as Result.Passed names it
	// Passed is asked once a second, beside the run: it may take its time. True
	// ends the program, with all its descendants.
	Passed func(ctx context.Context) bool
}

// askBounds asks the caller's bounds until stop. passed gets the first that is
// passed.
func (p *process) askBounds(ctx context.Context) (passed <-chan Limit, stop func()) {
	if len(p.Bounds) == 0 {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	found, ended := make(chan Limit, 1), make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(scanInterval)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			for _, b := range p.Bounds {
				if b.Passed(ctx) && ctx.Err() == nil {
					found <- b.Limit
					return
				}
			}
		}
	}()
	return found, func() { cancel(); <-ended }
}
