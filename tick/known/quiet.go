package known

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// mostQuiet is how many quiet periods a burst of comments may last: one that
// never ends is answered too.
const mostQuiet = 10

// QuietUntil is when a burst of comments counts as over. GitHub's clock may run ahead of
// ours; no comment is newer than our sight of it.
func QuietUntil(said []work.Event, more More, quiet time.Duration, now time.Time) time.Time {
	times := make([]time.Time, len(said))
	for i, e := range said {
		times[i] = e.UpdatedAt
		if e.UpdatedAt.IsZero() || e.UpdatedAt.After(e.SeenAt) {
			times[i] = e.SeenAt
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var first, last time.Time // of the burst
	for _, at := range times {
		if at.Sub(last) >= quiet {
			first = at
		}
		last = at
	}
	// What is not read here belongs to the burst, as far as anybody can tell.
	if more.Newest.After(last) {
		last = more.Newest
		if last.After(now) {
			last = now
		}
	}
	if most := first.Add(mostQuiet * quiet); most.Before(last.Add(quiet)) {
		return most
	}
	return last.Add(quiet)
}
