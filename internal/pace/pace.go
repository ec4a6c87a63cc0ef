// Package pace lets a short run, such as a pass that finds nothing new, use one processor. With two,
// a tenth of its time went into one looking for work that the other was about to do. The first
// garbage collection shows that a run is longer; from then on it uses all processors. Importing the
// package is enough. It imports only the runtime, and is therefore among the first packages that are
// initialised.
package pace

import "runtime"

func init() {
	runtime.AddCleanup(new([16]byte), func(all int) { runtime.GOMAXPROCS(all) }, runtime.GOMAXPROCS(1))
}
