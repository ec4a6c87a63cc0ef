package report

import (
	"fmt"
	"math"
	"time"

	"github.com/mergexo/gh-mergexo/store"
)

// Histogram counts how long something took, in the buckets of the store.
type Histogram struct {
	counts map[time.Duration]int // by upper bound; 0: none
}

func (h *Histogram) add(lines []store.TimeLine) {
	if h.counts == nil {
		h.counts = map[time.Duration]int{}
	}
	for _, l := range lines {
		h.counts[l.Most] += l.Count
	}
}

// Count is how many there are.
func (h *Histogram) Count() int {
	n := 0
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Within is the time within which a part of them were done, as far as the buckets tell: it is
// somewhere in one, and taken to lie where it would if that were filled evenly. What is in no
// bucket with a bound took longer than the last.
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

func (h *Histogram) seconds(part float64) *float64 {
	d, ok := h.Within(part)
	if !ok {
		return nil
	}
	s := math.Round(d.Seconds())
	return &s
}

// Took is a duration as people say it: two digits of it count.
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

// trim is a number with one digit behind the point, where that is not 0.
func trim(n float64) string {
	s := fmt.Sprintf("%.1f", n)
	if s[len(s)-2:] == ".0" {
		return s[:len(s)-2]
	}
	return s
}
