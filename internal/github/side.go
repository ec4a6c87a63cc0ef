package github

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// SideBySide sends requests together that do not depend on each other. What they find is judged once
// all are answered, one by one and in order.
func SideBySide(ctx context.Context, reads ...func(context.Context) error) error {
	return FirstError(AtOnce(ctx, len(reads), reads))
}

// AtOnce runs all reads, at most most at a time, and returns the error of each.
func AtOnce(ctx context.Context, most int, reads []func(context.Context) error) []error {
	errs := make([]error, len(reads))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(most, len(reads)) { // each new goroutine would grow its stack again
		wg.Go(func() {
			for i := range next {
				errs[i] = work.Contain("read from GitHub", func() error { return reads[i](ctx) })
			}
		})
	}
	for i := range reads {
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}
