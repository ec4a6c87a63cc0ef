package batch

import "sync"

// AtOnce does all of some things, so many at a time, and gives the error of each.
func AtOnce(most int, things []func() error) []error {
	errs := make([]error, len(things))
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(most, len(things)) { // a goroutine for each thing would make its stack as large again
		wg.Go(func() {
			for i := range next {
				errs[i] = things[i]()
			}
		})
	}
	for i := range things {
		next <- i
	}
	close(next)
	wg.Wait()
	return errs
}
