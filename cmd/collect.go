package cmd

import (
	"runtime"
	"runtime/debug"
)

// unhurried is the share of new memory, in percent, after which Go's collector works for
// the first time: 16 MB, in place of 4.
const unhurried = 400

// collectLater puts the collector off until there is something to collect: most runs are
// over before, and a tenth of their time was the collector's. From its first work on it
// works as ever, so that what lasts needs no more memory than it did.
func collectLater() {
	if usual := debug.SetGCPercent(unhurried); usual == 100 {
		runtime.AddCleanup(new([16]byte), func(usual int) { debug.SetGCPercent(usual) }, usual)
	} else {
		debug.SetGCPercent(usual) // GOGC says otherwise
	}
}
