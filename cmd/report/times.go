package report

import (
	"fmt"
	"math"
	"time"

	"github.com/mergexo/gh-mergexo/store"
)

// Histogram counts durations in the store's buckets.
type Histogram struct {
	counts map[time.Duration]int // by upper bound; 0: no bound
}

func (h *Histogram) add(lines []store.TimeLine) {
	if h.counts == nil {
		h.counts = map[time.Duration]int{}
	}
	for _, l := range lines {
		h.counts[l.Most] += l.Count
	}
}

// Count returns the number of durations.
func (h *Histogram) Count() int {
	n := 0
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Within returns the time within which a part of them ended. It assumes that durations are spread
// evenly within a bucket. Durations in the bucket without a bound count as the largest bound.
func (h *Histogram) Within(part float64) (time.Duration, bool) {
	all := h.Count()
	if all == 0 {
		return 0, false
	}
	want, before, least := part*float64(all), 0.0, time.Duration(0)
	for _, most := range store.TimeBounds() {
		n := float64(h.counts[most])
		if n > 0 && before+n >= want {
			return least + time.Duration(float64(most-least)*(want-before)/n), true
		}
		before, least = before+n, most
	}
	return least, true
}

// leastTimes is the least number of durations of which a quantile says something.
const leastTimes = 10

// seconds is Within in seconds; nil: there are too few durations.
func (h *Histogram) seconds(part float64) *float64 {
	d, _ := h.Within(part)
	if h.Count() < leastTimes {
		return nil
	}
	s := math.Round(d.Seconds())
	return &s
}

// Took formats a duration for people, with two significant digits.
func Took(d time.Duration) string {
	for _, unit := range []struct {
		long time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if n := d.Seconds() / unit.long.Seconds(); n >= 9.95 {
			return fmt.Sprintf("%.0f %s", n, unit.name)
		} else if n >= 1 {
			return trim(n) + " " + unit.name
		}
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// trim formats a number with one decimal, or none if that is 0.
func trim(n float64) string {
	s := fmt.Sprintf("%.1f", n)
	if s[len(s)-2:] == ".0" {
		return s[:len(s)-2]
	}
	return s
}
