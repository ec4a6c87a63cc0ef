package known

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// mostQuiet is how many quiet periods a burst of comments may last, so that an endless one is
// answered, too.
const mostQuiet = 10

// QuietUntil returns when a burst of comments counts as over. GitHub's clock may be ahead of ours,
// so no comment counts as newer than when we saw it.
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
	// Comments that were not read are taken to belong to the burst.
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
