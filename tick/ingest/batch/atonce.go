package batch

import "sync"

// AtOnce does all of some things, so many at a time, and gives the error of each.
func AtOnce(most int, things []func() error) []error {
	errs := make([]error, len(things))
	slots := make(chan struct{}, most)
	var wg sync.WaitGroup
	for i, do := range things {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = do()
		})
	}
	wg.Wait()
	return errs
}
