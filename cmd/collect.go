package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much new memory Go's collector waits for.
const (
	usual     = 100     // percent of what is in use, where GOGC says nothing
	unhurried = 400     // the first time: 16 MB, in place of 4
	room      = 5 << 20 // from then on, at least
	thorough  = 50      // percent of what is in use, where that is more
)

// collectLater puts the collector off until there is something to collect: most runs are
// over before, and a tenth of their time was the collector's. What lasts longer reads page
// by page and needs little at a time: there the collector waits until enough is new, so that
// it does not work all the time, and no longer, so that the peak stays near what is in use.
func collectLater() {
	if before := debug.SetGCPercent(unhurried); before != usual {
		debug.SetGCPercent(before) // GOGC says otherwise
		return
	}
	runtime.AddCleanup(new([16]byte), pace, unhurried)
}

// pace says after each work of the collector when the next one is.
func pace(before int) {
	inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(inUse)
	now := percentOf(inUse[0].Value.Uint64())
	if now < before || now > before+before/4 {
		debug.SetGCPercent(now)
		before = now
	}
	runtime.AddCleanup(new([16]byte), pace, before)
}

// percentOf is how much new memory may come, in percent of what is in use, before it is collected.
func percentOf(inUse uint64) int { return max(thorough, int(100*room/max(inUse, room/4))) }
