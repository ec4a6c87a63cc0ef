package cmd

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// short is how long a run uses one processor. Most passes find nothing new and end within that
// time; with two, a tenth of it went into one looking for work that the other was about to do.
const short = 50 * time.Millisecond

// beginSmall lets a short run use one processor.
func beginSmall() {
	all := runtime.GOMAXPROCS(1)
	time.AfterFunc(short, func() { runtime.GOMAXPROCS(all) })
}

// Settings of Go's garbage collector: how much memory is allocated before it runs.
const (
	usual     = 100     // percent of the memory in use, the default of GOGC
	unhurried = 400     // before the first collection: 16 MB instead of 4
	room      = 5 << 20 // at least, after the first collection
	thorough  = 50      // percent of the memory in use, if that is more
)

// collectLater delays the garbage collector. Most runs end before the first collection, which took
// a tenth of their time. Longer runs read page by page and need little at a time: there the
// collector waits for at least room bytes, so that it does not run all the time, but no longer, so
// that the peak stays near the memory in use.
func collectLater() {
	if before := debug.SetGCPercent(unhurried); before != usual {
		debug.SetGCPercent(before) // GOGC is set
		return
	}
	runtime.AddCleanup(new([16]byte), pace, unhurried)
}

// pace sets the next collection after each one.
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

// percentOf returns room as a percentage of the memory in use, but at least thorough.
func percentOf(inUse uint64) int { return max(thorough, int(100*room/max(inUse, room/4))) }
