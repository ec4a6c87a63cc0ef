package testhome

import (
	"flag"
	"time"
)

// began is when the tests of this package were started.
var began = time.Now()

// Patience is how long a test may still wait for what must happen: as long as go test lets the package
// run, less the time to say what did not. A shorter limit would fail on a slow machine.
func Patience() time.Duration {
	limit := time.Hour
	if f := flag.Lookup("test.timeout"); f != nil {
		if d, ok := f.Value.(flag.Getter).Get().(time.Duration); ok && d > 0 {
			limit = d
		}
	}
	return max(limit-time.Since(began)-limit/20, time.Second)
}
